#pragma once

#include "headrace/actors/stopping_threads.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/supervision/spec.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace headrace {

/// Opens a `distribute` node; its waits end with the token.
using open_service =
  std::function<result<std::unique_ptr<element_source>>(const dataset_node&, std::stop_token)>;

/// What a task has of the worker that it runs on. The same for all tasks of a worker.
struct task_surroundings {
  /// How often a task's runner may crash, and its actor, before the task fails.
  restart_budget restarts{.max_restarts = 3, .within = std::chrono::seconds{60}};
  /// How many answers with splits (24 bytes each) a task keeps for a runner that replays them; with
  /// more it keeps none, as to replay them would take about as long as they took.
  size_t most_splits = size_t{1} << 20;
  /// Bytes that the cross-trainer caches of all tasks may take together.
  size_t cache_bytes = size_t{1} << 30;
  /// The C++ functions that graphs may call by name; may be empty.
  std::function<named_function(const std::string&)> find_function;
  /// Reads a `distribute` in a graph from its service; may be empty.
  open_service open_distribute;
  /// Where threads are counted that were told to stop; outlives the worker's restarts.
  std::shared_ptr<stopping_threads> threads = std::make_shared<stopping_threads>();
};

} // namespace headrace
