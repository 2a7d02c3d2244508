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

/// Reads such a struct. A code that this build does not define is read as `unknown`.
template <class Reader>
status read_failure(Reader in) {
  return {status_code_of(in.getCode()), string_of(in.getText())};
}

} // namespace headrace::detail
