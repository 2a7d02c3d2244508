#pragma once

#include <cstdint>

namespace headrace::detail {

/// A random order of the numbers below n, with a few words of state: `at(i)` is the number at place
/// i. The order is the same for equal n and keys on every machine.
///
/// A Feistel network permutes the numbers with as many bits as n needs, or one bit more if that
/// number of bits is odd. A result that is not below n is permuted again, until it is below n.
class permutation {
public:
  /// @pre `n <= 2^62`
  permutation(uint64_t n, uint64_t key) noexcept;
  uint64_t size() const noexcept { return n_; }
  /// @pre `place < size()`
  uint64_t at(uint64_t place) const noexcept;

private:
  uint64_t once(uint64_t x) const noexcept;

  uint64_t n_, key_;
  unsigned half_; ///< half of the number of bits
};

} // namespace headrace::detail
