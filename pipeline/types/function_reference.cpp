#include "headrace/pipeline/types/function_reference.hpp"

namespace headrace {

std::string to_string(const function_reference& x) {
  auto out = x.label.empty() ? x.name : x.name + ":" + x.label;
  constexpr size_t most_bytes = 200;
  if (out.size() <= most_bytes)
    return out;
  auto end = most_bytes;
  // The text is not cut inside a UTF-8 character.
  while (end != 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  out.resize(end);
  return out;
}

} // namespace headrace
