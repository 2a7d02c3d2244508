#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace headrace {

/// What of a task outlives its actors. Its worker keeps it and does not look into it.
class hosted_task {
public:
  virtual ~hosted_task() = default;

  /// Starts an actor, which goes on where the one before it was and reports to `parent`.
  /// @pre no other one lives
  virtual task_handle run(caf::actor_system& system, const worker_handle& parent,
                          const tree_place& place, const logger& log) = 0;
  /// Elements that were left out so far. May be called while an actor lives.
  virtual uint64_t ignored() const = 0;

  // -- only while no actor lives ----------------------------------------------------------

  /// The last actor died in the midst of a change: no other can go on.
  virtual bool torn() const = 0;
  /// How far the task is.
  virtual task_numbers made() const = 0;
  /// The next actor finishes what was begun, and gives back the rest.
  virtual void leave() = 0;
  /// Says to the consumers that have streams open that the task failed.
  virtual void fail_streams(const status& why) = 0;
};

/// Makes the task of an order; the graph is that of the order.
using host_task = std::function<std::unique_ptr<hosted_task>(const task_order&, dataset_ptr graph)>;

} // namespace headrace
