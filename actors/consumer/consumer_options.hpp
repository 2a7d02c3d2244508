#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <optional>
#include <string>

namespace headrace {

/// What a consumer reads, and how.
struct consumer_options {
  std::string dataset_id;
  /// What is read where there is no id: sent with the graph, once that is asked for.
  std::optional<dataset_registration> dataset;
  std::string job_name; ///< empty: anonymous
  uint64_t node = 0;    ///< that its links come from, as they say it; zero: not told
  /// Of its process (process_place), where it can read from workers of it; zero: it cannot.
  uint64_t place = 0;
  bool beside_a_worker = false; ///< there is one in that process, whatever its dispatcher
  job_parameters parameters;
  std::string trainer; ///< of a job with a cross-trainer cache: whose elements it reads
  cache_start start = cache_start::oldest;
  uint32_t index = 0;   ///< of coordinated reads: which element of each round it reads
  bool rejoins = false; ///< of coordinated reads: in the place of one that is gone
  /// Of coordinated reads: how long the trainer waits while there are not as many consumers as the
  /// rounds are shared by, before that is an error.
  duration consumer_timeout = std::chrono::minutes{5};
  uint64_t repetition = 0;
  element_spec spec; ///< of the elements it expects
  compression packing = compression::automatic;
  int64_t max_outstanding = 0; ///< elements over all tasks; 0: by bytes alone
  /// How long there may be no worker, or no dispatcher, before that is an error.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long the trainer waits for an element while workers run the job, before that is an error.
  duration stall_timeout = std::chrono::hours{1};
  /// How long a reader that leaves tries to say so to its job where that does not answer.
  duration goodbye_timeout = std::chrono::seconds{15};
  size_t stream_bytes = 4 << 20;    ///< credit of one stream
  size_t consumer_bytes = 64 << 20; ///< of all together
};

} // namespace headrace
