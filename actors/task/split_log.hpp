#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <vector>

namespace headrace {

/// One answer that a task had from its job: splits, or the end of a pass.
struct split_answer {
  uint32_t source = 0;
  uint64_t pass = 0;
  std::optional<split_range> splits;
  friend bool operator==(const split_answer&, const split_answer&) = default;
};

/// All of them in order. With graph and seed it determines everything that the task produces.
using split_log = std::vector<split_answer>;

} // namespace headrace
