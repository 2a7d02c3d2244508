#pragma once

#include <cstdint>

namespace headrace::detail {

/// How a task ended.
enum class task_outcome : uint8_t {
  exhausted, ///< the task's pipeline has ended, and all of its elements were sent to readers
  left,      ///< the task's worker left before that; other tasks read the unread splits
  failed,    ///< the task could not continue
  stopped,   ///< the task's job no longer needed it
};

} // namespace headrace::detail
