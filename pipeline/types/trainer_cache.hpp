#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// What all trainers that share a cross-trainer cache must agree on.
struct cache_terms {
  /// How long others wait for a trainer that falls behind, once the cache is full, before it is
  /// skipped forward. Unset: they never wait.
  std::optional<duration> wait;
  /// Not zero: elements are given as soon as so many trainers have come, and to these alone. A
  /// finite dataset needs it.
  uint32_t expected_trainers = 0;
  friend bool operator==(const cache_terms&, const cache_terms&) = default;
};

/// Where a trainer begins that the cache does not know.
enum class cache_start : uint8_t {
  oldest, ///< with the oldest element that the cache holds
  newest, ///< with the first one that is made after it has come
};

/// How one trainer reads a job that it shares with others by way of a window of its newest
/// elements.
struct trainer_cache {
  /// Iterators of one id share one place in the elements, so that none comes to two of them.
  std::string trainer_id;
  cache_terms terms;
  cache_start start = cache_start::oldest;
  friend bool operator==(const trainer_cache&, const trainer_cache&) = default;
};

/// Longer ids of trainers are refused.
inline constexpr size_t longest_trainer_id = 256;

} // namespace headrace
