#pragma once

#include "headrace/runtime/log/logger.hpp"

namespace headrace::detail {

/// Appends ` key=value` for each field (text) or `,"key":value` (JSON). Text values are quoted when
/// they are empty or contain blanks, quotes, backslashes, `=` or control characters.
void append_fields(std::string& out, log_format format, logger::fields xs);

/// Appends `x` as a JSON string with its quotes. Bytes that are not valid UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view x);

/// Appends `x` with control characters escaped, so that one event is one line.
void append_text(std::string& out, std::string_view x);

} // namespace headrace::detail
