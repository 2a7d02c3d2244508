#pragma once

#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/types/function_reference.hpp"

namespace headrace::detail {

/// Writes a reference to a function into `out`, a Cap'n Proto group that has the fields name, label
/// and program.
template <class Group>
void write_reference(Group out, const function_reference& x) {
  out.setName(x.name);
  if (!x.label.empty())
    out.setLabel(x.label);
  if (!x.program.empty())
    out.setProgram({reinterpret_cast<const ::capnp::byte*>(x.program.data()), x.program.size()});
}

template <class Group>
function_reference read_reference(Group in) {
  const auto program = in.getProgram().asChars();
  return {std::string{text_of(in.getName())}, std::string{text_of(in.getLabel())},
          std::string{program.begin(), program.size()}};
}

} // namespace headrace::detail
