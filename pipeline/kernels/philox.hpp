#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::detail::kernels {

/// A stream of random words, determined by a seed of two numbers: Philox4x32-10 over a counter. The
/// key and the upper half of the counter are made from the seed as in TensorFlow's stateless
/// functions.
class seeded_words {
public:
  seeded_words(uint64_t seed0, uint64_t seed1) noexcept;
  /// Words `4 * group` to `4 * group + 3`.
  std::array<uint32_t, 4> group(uint64_t group) const noexcept;
  /// Words `first` to `first + n - 1`.
  void fill(uint32_t* out, uint64_t first, size_t n) const noexcept;

private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
};

} // namespace headrace::detail::kernels
