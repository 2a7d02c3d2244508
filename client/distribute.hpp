#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/client/session.hpp"
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
  /// The dispatcher: `host:port`, with any scheme or none. Empty: the value of the environment
  /// variable HEADRACE_SERVICE; the same holds for all functions that have such an argument.
  std::string service;
  /// Consumers with the same job name and dataset share the elements; empty: the consumer reads
  /// alone. Each new iteration reads the next repetition of the job. At most 1,024 bytes.
  std::string job_name;
  /// The number of elements that are requested from all workers together in advance, in equal parts
  /// and at least one from each. While a worker joins, more may arrive, because the other workers
  /// were granted credit for larger parts before. 0: only the number of bytes is limited.
  int64_t max_outstanding_requests = 0;
  /// `automatic`: between two hosts, blocks are compressed if samples shrink to three quarters or
  /// less.
  headrace::compression compression = headrace::compression::automatic;
  /// How long the trainer waits before it gets an error while there is no worker, while the
  /// dispatcher does not answer, or, under a static policy, while a shard that was not read to its
  /// end has no worker.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long the trainer waits for an element while workers run the job, before it gets an error.
  /// It must be longer than the time for one element.
  duration stall_timeout = std::chrono::hours{1};
  /// The workers from which the consumer reads. `local`: the workers of this process alone
  /// (`serves_own_process`), whose elements are passed without a socket or a copy; if there are
  /// none, the error is failed_precondition. `any`: all workers, except workers with the tag
  /// `COLOCATED` that run in other processes. `automatic`: as `local` under a static policy if the
  /// dispatcher's `deployment` is `colocated`, else as `any`.
  headrace::target_workers target_workers = headrace::target_workers::automatic;
  /// Under `dynamic`: the guarantee if workers or trainers are lost. It is an error if the dataset
  /// does not allow the guarantee.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// If set, each trainer of the job is given all elements of each worker. A worker makes each
  /// element once, and keeps a window of the newest ones. This requires a `job_name` that all
  /// trainers use, and an infinite dataset or `expected_trainers`. Without `expected_trainers`, a
  /// dataset object with this option can be iterated only once.
  std::optional<trainer_cache> cross_trainer_cache = {};
  /// If set, every consumer of the job gets one element in each round; these are consecutive in the
  /// output of one worker. This requires a `job_name` and an infinite dataset. Rounds begin when
  /// all consumers have joined, and a round is handed out when all consumers have received their
  /// elements of it.
  std::optional<headrace::coordinated_reads> coordinated_reads = {};
  /// How this program connects to the service.
  headrace::session session = {};
};

/// `ds.apply(distribute(options))`: operators before it run on the workers of a service, later ones
/// run in this program. Throws `error` for a wrong option.
struct distribute {
  explicit distribute(distribute_options options) : options_(std::move(options)) {}
  dataset operator()(const dataset& input) const;

private:
  distribute_options options_;
};

struct register_options {
  /// If another dataset with the same structure (its spec, and whether it is finite, infinite or of
  /// unknown size) has this id, the call joins that dataset; if a dataset with another structure
  /// has the id, that is an error. Empty: a new id.
  std::string id;
  /// How long to wait for a dispatcher that cannot be reached yet, and for its answer.
  duration timeout = std::chrono::seconds{60};
  /// The compression of blocks for its readers.
  headrace::compression compression = headrace::compression::automatic;
  /// How this program connects to the service.
  headrace::session session = {};
  /// Ends the wait; the error is then `cancelled`.
  std::stop_token stop;
  /// Called with a warning if the id belongs to another graph of the same structure; empty: the
  /// warning goes to standard error.
  std::function<void(const std::string&)> warn;
};

/// Registers a dataset with a service and returns its id. Blocks; throws `error`.
std::string register_dataset(const std::string& service, const dataset& what,
                             const register_options& options);
std::string register_dataset(const std::string& service, const dataset& what,
                             const std::string& id = {});

/// Reads a dataset that was registered under `id`, by any program; its spec, cardinality and
/// compression are requested from the dispatcher. Blocks, for at most `worker_timeout` or until
/// `stop`. Throws `error`: not_found for an unknown id, invalid_argument for a compression, other
/// than `automatic`, that differs from the registered one.
dataset from_dataset_id(distribute_options options, const std::string& id,
                        std::stop_token stop = {});

} // namespace headrace
