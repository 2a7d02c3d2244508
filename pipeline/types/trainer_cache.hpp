#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// The terms on which all trainers that share a cross-trainer cache must agree.
struct cache_terms {
  /// The time for which the other trainers wait for a trainer that is behind when the window is
  /// full. After this time, the trainer that is behind skips elements. Unset: the other trainers
  /// never wait.
  std::optional<duration> wait;
  /// If it is not zero, elements are given when this number of trainers has joined, and only to
  /// these trainers. It must not be zero for a finite dataset.
  uint32_t expected_trainers = 0;
  friend bool operator==(const cache_terms&, const cache_terms&) = default;
};

/// The element with which a trainer begins when it joins the cache.
enum class cache_start : uint8_t {
  oldest, ///< the oldest element in the window
  newest, ///< the first element that is made after the trainer has joined
};

/// The settings with which one trainer reads a job that it shares with others through a window of
/// the newest elements.
struct trainer_cache {
  /// Iterators with the same id share one place in the window, so that no element goes to two of
  /// them.
  std::string trainer_id;
  cache_terms terms;
  cache_start start = cache_start::oldest;
  friend bool operator==(const trainer_cache&, const trainer_cache&) = default;
};

/// The longest id of a trainer; a longer one is refused.
inline constexpr size_t longest_trainer_id = 256;

} // namespace headrace
