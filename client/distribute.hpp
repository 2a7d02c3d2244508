#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/coordinated_reads.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace headrace {

struct distribute_options {
  sharding_policy processing_mode = sharding_policy::off;
  /// The dispatcher: `host:port`, with any scheme or none. Empty: what the environment variable
  /// HEADRACE_SERVICE names, here and wherever a service is asked for.
  std::string service;
  /// Consumers with the same job name and dataset share its elements; empty: this iterator reads
  /// alone. Each new iteration is the next repetition of the job.
  std::string job_name;
  /// Elements asked of all workers in advance, in equal parts and at least one of each: a number
  /// below that of the workers counts as theirs. While a worker joins, what the others were granted
  /// before may still come. 0: bounded by bytes alone.
  int64_t max_outstanding_requests = 0;
  /// `automatic`: between two hosts, blocks that shrink to three quarters or less.
  headrace::compression compression = headrace::compression::automatic;
  /// How long to wait while there is no worker at all, no dispatcher, or, under a static policy, no
  /// worker for what is not read yet, before that is an error.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long the trainer waits for an element while workers run the job, before that is an error:
  /// longer than one element may take.
  duration stall_timeout = std::chrono::hours{1};
  /// From which workers to read. `local`: those of this process alone (`serves_own_process`), whose
  /// elements come without a socket or a copy; failed_precondition if there are none. `any`: all,
  /// but for workers of other processes that are tagged `COLOCATED`. `automatic`: as any; as local
  /// under a static policy where the dispatcher's `deployment` is `colocated`.
  headrace::target_workers target_workers = headrace::target_workers::automatic;
  /// Of `dynamic`: what is promised where workers or trainers are lost. One that the dataset does
  /// not allow is an error.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// Each trainer of the job is given all elements of each worker, made once: workers keep a window
  /// of the newest ones. Needs a `job_name` that all trainers give, and an infinite dataset or
  /// `expected_trainers`; such a dataset object is iterated once, but with `expected_trainers`.
  std::optional<trainer_cache> cross_trainer_cache = {};
  /// In each round every consumer of the job gets one element, all from one worker and next to each
  /// other in its output. Needs a `job_name` and an infinite dataset; `off` only. A round begins
  /// when all consumers have come, and is handed out when all have received their elements.
  std::optional<headrace::coordinated_reads> coordinated_reads = {};
};

/// `ds.apply(distribute(options))`: everything up to here runs on the workers of a service, what
/// follows runs in this program. Throws `error` for a wrong option.
struct distribute {
  explicit distribute(distribute_options options) : options_(std::move(options)) {}
  dataset operator()(const dataset& input) const;

private:
  distribute_options options_;
};

struct register_options {
  /// One that is taken by a dataset of the same structure (elements; finite, infinite or of unknown
  /// size) means that one; one that any other dataset has is an error. Empty: a new one.
  std::string id;
  /// How long to wait for a dispatcher that is not there yet, and for its answer.
  duration timeout = std::chrono::seconds{60};
  /// Of what its readers get.
  headrace::compression compression = headrace::compression::automatic;
  /// Ends the wait: `cancelled`.
  std::stop_token stop;
  /// Gets what is to be known of an id that another graph of the same structure has; empty: that
  /// goes to the standard error.
  std::function<void(const std::string&)> warn;
};

/// Hands a dataset to a service and returns its id. Blocks; throws `error`.
std::string register_dataset(const std::string& service, const dataset& what,
                             const register_options& options);
std::string register_dataset(const std::string& service, const dataset& what,
                             const std::string& id = {});

/// Reads a dataset that was registered, by somebody, under `id`; its spec, cardinality and
/// compression are fetched. Blocks, for at most `worker_timeout` or until `stop`; throws `error`:
/// not_found for an unknown id, invalid_argument for a compression, other than `automatic`, that
/// the dataset was not registered with.
dataset from_dataset_id(distribute_options options, const std::string& id,
                        std::stop_token stop = {});

} // namespace headrace
