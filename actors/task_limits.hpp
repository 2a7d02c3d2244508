#pragma once

#include <cstddef>

namespace headrace::detail {

/// The bounds of a task.
struct task_limits {
  /// The most answers (40 bytes each) that are kept for a replay. If there are more, none is kept,
  /// because a replay would take about as long as the task has run.
  size_t most_splits = size_t{1} << 20;
};

} // namespace headrace::detail
