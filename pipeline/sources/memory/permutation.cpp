#include "headrace/pipeline/sources/memory/permutation.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"

#include <algorithm>
#include <bit>

namespace headrace::detail {

namespace {

// Four rounds give a random permutation if the halves of the numbers have many bits; halves of few
// bits need more rounds.
constexpr unsigned rounds = 8;

} // namespace

permutation::permutation(uint64_t n, uint64_t key) noexcept
  : n_(n),
    key_(key),
    half_(std::max(1u, (static_cast<unsigned>(std::bit_width(n == 0 ? 0 : n - 1)) + 1) / 2)) {}

uint64_t permutation::once(uint64_t x) const noexcept {
  const auto mask = (uint64_t{1} << half_) - 1;
  auto left = x >> half_, right = x & mask;
  for (unsigned i = 0; i < rounds; ++i) {
    const auto next = left ^ (mix(key_ + i, right) & mask);
    left = right;
    right = next;
  }
  return left << half_ | right;
}

uint64_t permutation::at(uint64_t place) const noexcept {
  // The network permutes at most 4 n numbers, so this takes at most four steps on average.
  auto x = once(place);
  while (x >= n_) x = once(x);
  return x;
}

} // namespace headrace::detail
