#include "headrace/runtime/base/ids.hpp"

#include <array>
#include <charconv>
#include <random>

namespace headrace {

std::string to_hex(uint64_t x) {
  std::array<char, 16> out;
  return {out.data(), std::to_chars(out.begin(), out.end(), x, 16).ptr};
}

uint64_t random_id() {
  std::random_device entropy;
  for (;;)
    if (auto x = (uint64_t{entropy()} << 32) | entropy(); x != 0)
      return x;
}

} // namespace headrace
