#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// One of the trainers that share a cache, as the status shows it.
struct cache_trainer_report {
  std::string id;
  uint64_t lag = 0;     ///< elements that were made and that it has not been given
  uint64_t skipped = 0; ///< elements that it was too slow for
  uint32_t streams = 0; ///< that are connected
  friend bool operator==(const cache_trainer_report&, const cache_trainer_report&) = default;
};

/// What a task keeps for the trainers that share its output.
struct cache_report {
  uint64_t first = 0; ///< elements [first, end) of the output
  uint64_t end = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;  ///< that were put into the window, ever
  uint64_t encoded = 0; ///< how often a block was encoded, ever
  uint64_t budget = 0;  ///< bytes of all windows of the worker
  std::vector<cache_trainer_report> trainers = {};
  friend bool operator==(const cache_report&, const cache_report&) = default;
};

} // namespace headrace
