#pragma once

#include "headrace/pipeline/iterator/random.hpp"

#include <cstddef>
#include <vector>

namespace headrace::detail {

/// Which rows the buffer of a shuffle holds, by the choices that led there. Rows that entered it
/// are numbered from 0.
///
/// The buffer takes rows until it is full; then each row that is given makes room for the next one;
/// when no more come, it gives what is left. A row that is given leaves its place to the one in the
/// last place.
struct shuffle_history {
  uint64_t size = 1;    ///< of the buffer
  uint64_t entered = 0; ///< rows that entered
  uint64_t given = 0;   ///< rows that left: the choices made. @pre 0 <= entered - given <= size

  uint64_t held() const noexcept { return entered - given; }
  /// The number of the row in each place. Goes back over the choices as far as the oldest of them,
  /// so that its cost does not depend on how long the shuffle has run.
  std::vector<uint64_t> places(counter_random& choices) const;
};

} // namespace headrace::detail
