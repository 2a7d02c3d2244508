#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <string>

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
  /// How long a named job that nobody reads is kept.
  duration idle_job = std::chrono::minutes{5};
  /// How long a worker may take to answer that it has a task.
  duration start_timeout = std::chrono::seconds{5};
};

/// A task and the worker that it was given to.
struct placed_task {
  task_id id;
  worker_id worker;
  friend bool operator==(const placed_task&, const placed_task&) = default;
};

} // namespace headrace
