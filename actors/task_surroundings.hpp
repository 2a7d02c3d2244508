#pragma once

#include "headrace/actors/stopping_threads.hpp"
#include "headrace/actors/task_limits.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/supervision/child_spec.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace headrace::detail {

/// Begins to read a `distribute` node. The stop token ends the waits of the returned source.
using open_service =
  std::function<result<std::unique_ptr<element_source>>(const dataset_node&, std::stop_token)>;

/// The surroundings of tasks, which are the same for all tasks of a worker.
struct task_surroundings {
  /// The restart budget of a task's runner, and that of its actor. If one of them is exceeded, the
  /// task fails.
  restart_budget restarts{.max_restarts = 3, .within = std::chrono::seconds{60}};
  task_limits limits;
  /// The bytes that the windows of all tasks may take together.
  size_t cache_bytes = size_t{1} << 30;
  /// Finds the C++ functions that graphs call by name; may be empty.
  function_finder find_function;
  /// Reads a `distribute` node of a graph from its service; may be empty.
  open_service open_distribute;
  /// Counts the threads that were requested to stop. Outlives restarts of the worker.
  std::shared_ptr<stopping_threads> threads = std::make_shared<stopping_threads>();
};

} // namespace headrace::detail
