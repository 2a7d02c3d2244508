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

namespace headrace {

/// What a job is, for as long as it lives: as its dispatcher describes it when it begins.
struct job_description {
  job_id id;
  std::string name; ///< empty: anonymous, ends with its consumer
  std::string dataset_id;
  sharding_policy policy = sharding_policy::off;
  buffer graph;            ///< a Graph message
  std::string fingerprint; ///< SHA-256 of it
  split_plan plan;         ///< of it
  lease_timing timing;
  job_terms terms;
  /// How long a worker may take to answer that it has a task.
  duration start_timeout = std::chrono::seconds{5};
  /// Repetitions that were over before this job began: earlier ones of its name had them.
  job_past past = {};
  /// Under a static policy: the dispatcher's list of workers, each of which has a shard.
  std::vector<std::string> worker_addresses = {};
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// From which workers its readers read, resolved.
  target_workers targets = target_workers::automatic;
  /// Set: its trainers share a cache on each worker.
  std::optional<cache_terms> cache = {};

  /// Not zero: coordinated reads, by so many.
  uint32_t num_consumers = 0;

  reading_rule reads() const noexcept { return {targets, name.empty(), num_consumers}; }
  uint32_t shards() const noexcept { return static_cast<uint32_t>(worker_addresses.size()); }
};

/// A task and the worker that it was given to.
struct placed_task {
  task_id id;
  worker_id worker;
  friend bool operator==(const placed_task&, const placed_task&) = default;
};

} // namespace headrace
