#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <compare>
#include <cstdint>

namespace headrace {

/// A task's question for splits. Questions about one pass of one source are numbered from 0, and
/// number n is asked again until it is answered: by another runner of the task, or when an answer
/// may have been lost.
struct split_question {
  uint32_t source = 0; ///< in depth-first order of the graph
  uint64_t pass = 0;   ///< how often the source was started over
  uint64_t number = 0;
  friend auto operator<=>(const split_question&, const split_question&) = default;
};

/// What a task that leaves has not begun to read of the last pass over a source that it came to.
struct unread_splits {
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t answered = 0; ///< questions about that pass; a later answer is unread as a whole
  split_range rest;      ///< of the last answer; empty: all of that is read
  friend bool operator==(const unread_splits&, const unread_splits&) = default;
};

} // namespace headrace
