#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <optional>
#include <string>

namespace headrace::detail {

/// The options of a consumer.
struct consumer_options {
  std::string dataset_id;
  /// The dataset, if it has no id. A large graph is sent only when the service requests it.
  std::optional<dataset_registration> dataset;
  std::string job_name; ///< empty: anonymous
  std::string host;     ///< the host and process of the trainer, for the status: HOST:PID
  uint64_t node = 0;    ///< the id of the trainer's node (`nodeId` in LinkHello); zero: unknown
  /// The place of the trainer's process, if workers there can be read without a socket; else zero.
  uint64_t place = 0;
  bool beside_a_worker = false; ///< a worker of some dispatcher runs in the trainer's process
  job_parameters parameters;
  std::string trainer; ///< in a job with a cross-trainer cache: the trainer's id
  cache_start start = cache_start::oldest;
  uint32_t index = 0;   ///< in coordinated reads: the consumer's seat
  bool rejoins = false; ///< in coordinated reads: the consumer takes the seat of one that is gone
  /// In coordinated reads: how long the trainer waits while seats are free, before it gets an
  /// error.
  duration consumer_timeout = std::chrono::minutes{5};
  uint64_t repetition = 0;
  element_spec spec; ///< the spec of the expected elements
  /// The dataset has no end at which the trainer could get a remark about losses, so each loss is
  /// reported when it happens.
  bool endless = false;
  compression packing = compression::automatic;
  /// The most elements that all tasks together may send ahead of the trainer; 0: no such bound.
  int64_t max_outstanding = 0;
  /// How long there may be no worker, or no answer of the dispatcher, before the trainer gets an
  /// error.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long the trainer waits for an element while workers run the job, before it gets an error.
  duration stall_timeout = std::chrono::hours{1};
  /// How long a reader that leaves repeats its goodbye to a job that does not answer.
  duration goodbye_timeout = std::chrono::seconds{15};
  size_t stream_bytes = 4 << 20;    ///< credit of one stream
  size_t consumer_bytes = 64 << 20; ///< credit of all streams together
};

} // namespace headrace::detail
