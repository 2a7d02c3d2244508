#pragma once

#include <string_view>

namespace headrace {

/// The name of a named function, for people. The name of a Python function is
/// `python:LABEL:SHIPPED`; SHIPPED, which has no colon, is the function itself and may have
/// megabytes, so only LABEL is shown. Other names are shown as they are. At most 200 bytes.
inline std::string_view function_label(std::string_view name) {
  if (name.starts_with("python:"))
    name = name.substr(0, name.rfind(':'));
  constexpr size_t most_bytes = 200;
  if (name.size() <= most_bytes)
    return name;
  size_t end = most_bytes;
  // Do not cut inside a UTF-8 character.
  while (end != 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end);
}

} // namespace headrace
