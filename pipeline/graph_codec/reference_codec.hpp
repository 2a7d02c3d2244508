#pragma once

#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/types/function_reference.hpp"
#include "headrace/schemas/text.hpp"

namespace headrace::detail {

/// Writes a reference to a function into `out`, a Cap'n Proto group that has the fields name, label
/// and program.
template <class Group>
void write_reference(Group out, const function_reference& x) {
  out.setName(text_of(x.name));
  if (!x.label.empty())
    out.setLabel(text_of(x.label));
  if (!x.program.empty())
    out.setProgram(data_of(x.program));
}

template <class Group>
function_reference read_reference(Group in) {
  return {string_of(in.getName()), string_of(in.getLabel()),
          std::string{chars_of(in.getProgram())}};
}

} // namespace headrace::detail
