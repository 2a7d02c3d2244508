#pragma once

#include <cstdint>

namespace headrace {

/// How far a reader is with the stream of a task, in elements.
struct reader_marks {
  uint64_t received = 0;   ///< that reached it, and were not given back
  uint64_t handed_out = 0; ///< of these: its trainer was given them
  friend bool operator==(const reader_marks&, const reader_marks&) = default;
};

} // namespace headrace
