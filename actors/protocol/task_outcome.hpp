#pragma once

#include <cstdint>

namespace headrace {

/// How a task ended.
enum class task_outcome : uint8_t {
  exhausted, ///< it gave all that its sources had for it
  left,      ///< its worker left first; what it had not begun is for others
  failed,    ///< it could not continue
  stopped,   ///< its job did not need it any more
};

} // namespace headrace
