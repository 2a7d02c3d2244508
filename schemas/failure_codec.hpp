#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/base/status_code.hpp"
#include "headrace/schemas/text.hpp"

#include <cstdint>

namespace headrace::detail {

/// Writes an error into a Failure, or into another struct that has its two fields, `code` and
/// `text`.
/// @pre `!why.ok()`
template <class Builder>
void write_failure(Builder out, const status& why) {
  out.setCode(static_cast<uint16_t>(why.code()));
  out.setText(text_of(why.message()));
}

/// Reads a struct with these two fields. A code that this build does not define becomes `unknown`.
template <class Reader>
status read_failure(Reader in) {
  return {status_code_of(in.getCode()), string_of(in.getText())};
}

} // namespace headrace::detail
