#pragma once

#include <Random123/philox.h>
#include <cstdint>

namespace headrace::detail {

/// Mixes two numbers into one whose bits depend on all bits of both (splitmix64's finisher).
constexpr uint64_t mix(uint64_t a, uint64_t b) noexcept {
  uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A random number for each index. The numbers depend only on the key and the index: they are the
/// same on every machine, and in any order of calls.
class counter_random {
public:
  counter_random() = default;
  explicit counter_random(uint64_t key) : key_(key) {}

  /// 64 random bits at `index`.
  uint64_t bits(uint64_t index) noexcept {
    if (const auto at = index / 2; at != at_ || !filled_) {
      at_ = at;
      filled_ = true;
      const r123::Philox4x32 philox;
      const auto out = philox({{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0}},
                              {{static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)}});
      pair_[0] = out[0] | uint64_t{out[1]} << 32;
      pair_[1] = out[2] | uint64_t{out[3]} << 32;
    }
    return pair_[index % 2];
  }
  /// A number in [0, n). @pre `0 < n < 2^32`
  uint64_t below(uint64_t index, uint64_t n) noexcept {
    // The result is the upper half of a product. The probability of each number differs from 1/n by
    // less than 2^-32.
    return ((bits(index) >> 32) * n) >> 32;
  }

private:
  uint64_t key_ = 0;
  uint64_t at_ = 0;
  bool filled_ = false;
  uint64_t pair_[2] = {};
};

} // namespace headrace::detail
