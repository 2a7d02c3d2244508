#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>

namespace headrace {

/// How one of several consumers reads a job in rounds: in each, every consumer gets one element,
/// and all of them come from one worker and follow each other in its output. So the replicas of a
/// synchronous training job can step over batches of like length.
struct coordinated_reads {
  uint32_t consumer_index = 0; ///< which of them this is, from 0
  uint32_t num_consumers = 1;  ///< that there are; all of them say the same
  /// Comes in the place of a consumer of that index that has left or is lost, if there was one, and
  /// goes on with the next rounds; one that still reads is given up.
  bool rejoin = false;
  /// How long the trainer waits where consumers are missing, before that is an error.
  duration consumer_timeout = std::chrono::minutes{5};
  friend bool operator==(const coordinated_reads&, const coordinated_reads&) = default;
};

/// More consumers of one job are refused.
inline constexpr uint32_t most_consumers = 65'536;

} // namespace headrace
