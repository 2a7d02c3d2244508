#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>

namespace headrace {

/// The settings with which one of several consumers reads a job in rounds. In each round every
/// consumer gets one element; these elements are consecutive in the output of one worker. So if the
/// dataset puts batches of similar length side by side, the batches of each round are alike, too.
struct coordinated_reads {
  uint32_t consumer_index = 0; ///< this consumer's index, from 0
  uint32_t num_consumers = 1;  ///< the number of consumers, which is the same for all of them
  /// True: the consumer takes the seat of a consumer that has left or is lost, if there was one,
  /// and continues with the next rounds; a consumer that still reads with that index is given up.
  bool rejoin = false;
  /// How long the trainer waits while consumers are missing, before it gets an error.
  duration consumer_timeout = std::chrono::minutes{5};
  friend bool operator==(const coordinated_reads&, const coordinated_reads&) = default;
};

/// The most consumers of one job; a larger number is refused.
inline constexpr uint32_t most_consumers = 65'536;

} // namespace headrace
