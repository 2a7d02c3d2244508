#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <string>

namespace headrace {

struct distribute_options {
  sharding_policy processing_mode = sharding_policy::off;
  /// The dispatcher: `host:port`, with any scheme or none.
  std::string service;
  /// Consumers with the same job name and dataset share its elements; empty: this iterator reads
  /// alone. Each new iteration is the next repetition of the job.
  std::string job_name;
  /// Elements asked of all workers in advance, in equal parts and at least one of each: a number
  /// below that of the workers counts as theirs. 0: bounded by bytes alone.
  int64_t max_outstanding_requests = 0;
  /// `automatic`: between two hosts, blocks that shrink to three quarters or less.
  headrace::compression compression = headrace::compression::automatic;
  /// How long to wait while there is no worker at all, before that is an error; and for the first
  /// answer of the dispatcher, where 10 s are not less.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long the trainer waits for an element while workers run the job, before that is an error:
  /// longer than one element may take.
  duration stall_timeout = std::chrono::hours{1};
};

/// `ds.apply(distribute(options))`: everything up to here runs on the workers of a service, what
/// follows runs in this program. Throws `error` for a wrong option.
struct distribute {
  explicit distribute(distribute_options options) : options_(std::move(options)) {}
  dataset operator()(const dataset& input) const;

private:
  distribute_options options_;
};

/// Hands a dataset to a service and returns its id. An `id` that is taken by another dataset is an
/// error; without one the service chooses. Blocks; throws `error`.
std::string register_dataset(const std::string& service, const dataset& what,
                             const std::string& id = {});

/// Reads a dataset that was registered, by somebody, under `id`; its spec is fetched. Blocks;
/// throws `error` (not_found for an unknown id).
dataset from_dataset_id(distribute_options options, const std::string& id);

} // namespace headrace
