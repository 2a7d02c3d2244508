#pragma once

#include <cstdint>

namespace headrace {

/// How far a reader is with the stream of a task, in elements.
struct reader_marks {
  uint64_t received = 0;   ///< elements that arrived and were not given back
  uint64_t handed_out = 0; ///< elements that its trainer was handed, `<= received`
  friend bool operator==(const reader_marks&, const reader_marks&) = default;
};

} // namespace headrace
