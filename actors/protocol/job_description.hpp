#pragma once

#include "headrace/actors/protocol/job_past.hpp"
#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/actors/protocol/local_reads.hpp"
#include "headrace/actors/protocol/timing.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// The properties of a job. The dispatcher sets them when the job begins, and again after its own
/// restart: then `timing`, `terms` and `start_timeout` may differ.
struct job_description {
  job_id id;
  std::string name; ///< empty: an anonymous job, which ends with its consumer
  std::string dataset_id;
  sharding_policy policy = sharding_policy::off;
  buffer graph;            ///< a Graph message
  std::string fingerprint; ///< SHA-256 of the graph
  split_plan plan;         ///< of the graph
  lease_timing timing;
  job_terms terms;
  /// How long a worker may take to confirm that it has started a task.
  duration start_timeout = std::chrono::seconds{5};
  /// The repetitions that earlier jobs with this name have finished.
  job_past past = {};
  /// Under a static policy: the dispatcher's list of workers. Each entry has a shard.
  std::vector<std::string> worker_addresses = {};
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// The workers from which the job's readers read: the result of `resolved` (local_reads.hpp).
  target_workers targets = target_workers::automatic;
  /// Set: the trainers of the job share a window on each worker.
  std::optional<cache_terms> cache = {};

  /// Not zero: coordinated reads by this many consumers.
  uint32_t num_consumers = 0;

  reading_rule reads() const noexcept { return {targets, name.empty(), num_consumers}; }
  uint32_t shards() const noexcept { return static_cast<uint32_t>(worker_addresses.size()); }
};

/// A task and its worker.
struct placed_task {
  task_id id;
  worker_id worker;
  friend bool operator==(const placed_task&, const placed_task&) = default;
};

} // namespace headrace::detail
