#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// The terms on which all trainers that share a cross-trainer cache must agree.
struct cache_terms {
  /// When the cache is full: how long the others wait for a trainer that is behind, before it skips
  /// elements. Unset: they never wait.
  std::optional<duration> wait;
  /// Not zero: elements are given once this many trainers have come, and only to these. A finite
  /// dataset needs it.
  uint32_t expected_trainers = 0;
  friend bool operator==(const cache_terms&, const cache_terms&) = default;
};

/// Where a trainer begins if the cache does not know it.
enum class cache_start : uint8_t {
  oldest, ///< the oldest element in the window
  newest, ///< the first element that is made after the trainer has come
};

/// How one trainer reads a job that it shares with others through a window of the newest elements.
struct trainer_cache {
  /// Iterators with one id share one place in the elements, so that no element goes to two of them.
  std::string trainer_id;
  cache_terms terms;
  cache_start start = cache_start::oldest;
  friend bool operator==(const trainer_cache&, const trainer_cache&) = default;
};

/// Longer ids of trainers are refused.
inline constexpr size_t longest_trainer_id = 256;

} // namespace headrace
