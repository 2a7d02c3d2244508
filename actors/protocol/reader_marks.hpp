#pragma once

#include <cstdint>

namespace headrace::detail {

/// The position of a reader in the stream of a task, in elements.
struct reader_marks {
  uint64_t received = 0;   ///< elements that arrived and were not given back
  uint64_t handed_out = 0; ///< elements that the reader's trainer was handed, `<= received`
  friend bool operator==(const reader_marks&, const reader_marks&) = default;
};

} // namespace headrace::detail
