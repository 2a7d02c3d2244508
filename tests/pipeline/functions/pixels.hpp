#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace headrace::detail::test {

/// Random pixels, which are the same for the same seed.
inline std::vector<uint8_t> pixels(size_t n, uint64_t seed = 5) {
  std::mt19937_64 random{seed};
  std::vector<uint8_t> out(n);
  for (auto& x : out) x = static_cast<uint8_t>(random());
  return out;
}

} // namespace headrace::detail::test
