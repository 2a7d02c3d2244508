#pragma once

#include <string_view>

namespace headrace {

/// What people call a function that a graph calls by name. The name of a Python function is
/// `python:LABEL:SHIPPED`, where SHIPPED, without a colon, is the function itself and may have
/// megabytes: no text is to show that. Other names are their own label. At most 200 bytes.
inline std::string_view function_label(std::string_view name) {
  if (name.starts_with("python:"))
    name = name.substr(0, name.rfind(':'));
  constexpr size_t most_bytes = 200;
  if (name.size() <= most_bytes)
    return name;
  size_t end = most_bytes;
  // Not within a character of UTF-8.
  while (end != 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end);
}

} // namespace headrace
