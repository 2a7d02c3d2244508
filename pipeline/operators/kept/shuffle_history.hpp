#pragma once

#include "headrace/pipeline/iterator/counter_random.hpp"

#include <cstddef>
#include <vector>

namespace headrace::detail {

/// Computes which rows the buffer of a shuffle holds, from the choices that it made. Rows are
/// numbered from 0 in the order in which they entered.
///
/// The buffer takes rows until it is full; then each row that is given makes room for the next one;
/// when no more come, it gives what is left. When a row is given, the row at the last place takes
/// its place.
struct shuffle_history {
  uint64_t size = 1;    ///< of the buffer
  uint64_t entered = 0; ///< rows that entered it
  uint64_t given = 0; ///< rows that left it, one for each choice. @pre 0 <= entered - given <= size

  uint64_t held() const noexcept { return entered - given; }
  /// The number of the row at each place. It goes back over the choices as far as the oldest of
  /// these rows, so that its cost does not depend on how long the shuffle has run.
  std::vector<uint64_t> places(counter_random& choices) const;
};

} // namespace headrace::detail
