#pragma once

#include "headrace/actors/task/inner_services.hpp"
#include "headrace/actors/task/stopping_threads.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/supervision/spec.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace {

/// What a worker may be told.
struct worker_options {
  std::string dispatcher;   ///< `host:port`
  std::string data_address; ///< `host:port` where consumers reach its data port
  std::vector<std::string> tags;
  /// How long a consumer that lost its connection may take to come back before its rows go to
  /// others.
  duration consumer_lease = std::chrono::seconds{5};
  /// How often a task's runner may crash, and its actor, before the task fails.
  restart_budget restarts{.max_restarts = 3, .within = std::chrono::seconds{60}};
  /// How many answers with splits (24 bytes each) a task keeps for a runner that replays them; with
  /// more it keeps none, as to replay them would take about as long as they took.
  size_t most_splits = size_t{1} << 20;
  /// The C++ functions that graphs may call by name; may be empty.
  std::function<named_function(const std::string&)> find_function;
  /// Reads a `distribute` in a graph from its service; may be empty.
  open_service open_distribute;
  /// Where threads are counted that were told to stop; outlives this worker's restarts.
  std::shared_ptr<stopping_threads> threads = std::make_shared<stopping_threads>();
  /// With so many stuck threads (told to stop a whole lease ago) the worker cannot go on; 0: it
  /// always does.
  size_t most_stuck = 0;
  /// Told once when `most_stuck` is reached.
  std::function<void(const status&)> on_stuck;
  /// Told that the dispatcher is of another major version: trying again would not help. May be
  /// empty.
  std::function<void(const status&)> on_other_version;
  /// How long a worker that is asked to end may take to give what it has begun to its consumers;
  /// what it has not begun goes back to the jobs in any case.
  duration drain = std::chrono::milliseconds{500};
  /// Set by who ends the whole service: nobody is left to go on, so nothing is waited for.
  std::shared_ptr<std::atomic<bool>> at_once = std::make_shared<std::atomic<bool>>(false);
  /// Of its process: shown with the supervision tree.
  process_past past;
  /// What the worker's node has counted; may be empty.
  std::function<node_counters()> counters;
  /// Told of each actor that the worker gets; may be empty.
  std::function<void(const caf::actor&)> on_start;
};

} // namespace headrace
