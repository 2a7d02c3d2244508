#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail {

/// One of the trainers that share a window, for the status.
struct cache_trainer_report {
  std::string id;
  /// The number of produced elements that the trainer has not been handed and has not skipped.
  uint64_t lag = 0;
  uint64_t skipped = 0; ///< elements that left the window before the trainer was handed them
  uint32_t streams = 0; ///< the number of its connected streams
  friend bool operator==(const cache_trainer_report&, const cache_trainer_report&) = default;
};

/// A task's window, for the status.
struct cache_report {
  uint64_t first = 0; ///< the window has elements [first, end) of the output
  uint64_t end = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;  ///< total number of blocks that were added to the window
  uint64_t encoded = 0; ///< how often a block of the window was encoded, in total
  uint64_t budget = 0;  ///< the bytes that all windows of the worker may take
  std::vector<cache_trainer_report> trainers = {};
  friend bool operator==(const cache_report&, const cache_report&) = default;
};

} // namespace headrace::detail
