#pragma once

#include "headrace/pipeline/iterator/counter_random.hpp"

#include <cstddef>
#include <vector>

namespace headrace::detail {

/// Computes which rows the buffer of a shuffle contains, from the random choices. Rows are numbered
/// from 0 in the order in which they entered.
///
/// The buffer takes rows until it is full. After that each row that leaves makes room for the next
/// one. At the end of the input the remaining rows leave. When a row leaves, the row at the last
/// place takes its place.
struct shuffle_history {
  uint64_t size = 1;    ///< the capacity of the buffer
  uint64_t entered = 0; ///< the number of rows that entered the buffer
  /// The number of rows that left the buffer, one for each choice. @pre 0 <= entered - given <=
  /// size.
  uint64_t given = 0;

  uint64_t held() const noexcept { return entered - given; }
  /// The number of the row at each place. The function traces the choices back to the oldest of
  /// these rows, so that its cost does not depend on how long the shuffle has run.
  std::vector<uint64_t> places(counter_random& choices) const;
};

} // namespace headrace::detail
