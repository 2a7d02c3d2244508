#pragma once

#include <cstddef>

namespace headrace::detail {

/// The bounds of a task.
struct task_limits {
  /// The most answers to questions for splits (40 bytes each) that a task keeps for a replay. If it
  /// gets more, it keeps none, and fails if its runner crashes: a replay would take too long.
  size_t most_splits = size_t{1} << 20;
};

} // namespace headrace::detail
