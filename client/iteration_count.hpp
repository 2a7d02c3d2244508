#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <atomic>
#include <cstdint>

namespace headrace::detail {

/// Numbers the iterations over a dataset, from 0. A shuffle that reshuffles has another order in
/// each. Thread-safe.
class iteration_count {
public:
  /// The number of the next iteration.
  uint64_t next() noexcept { return next_.fetch_add(1); }
  /// Records that an iteration with this number exists: `next` returns only higher numbers after
  /// that.
  void go_past(uint64_t number) noexcept {
    auto at = next_.load();
    while (at <= number && !next_.compare_exchange_weak(at, number + 1)) {
    }
  }
  /// The seed for operators that have none of their own. It is drawn once, so that operators which
  /// do not reshuffle keep their order.
  uint64_t seed() {
    if (const auto known = seed_.load())
      return known;
    uint64_t drawn = 0;
    while (drawn == 0) drawn = random_id();
    uint64_t before = 0;
    return seed_.compare_exchange_strong(before, drawn) ? drawn : before;
  }

private:
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> seed_{0}; ///< 0: not drawn yet
};

} // namespace headrace::detail
