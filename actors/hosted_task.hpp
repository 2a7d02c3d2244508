#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/pipeline/explain/operator_activity.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace headrace::detail {

/// The part of a task that outlives the task's actors. A worker keeps it, and uses it only through
/// this interface.
class hosted_task {
public:
  virtual ~hosted_task() = default;

  /// Starts an actor, which continues where the previous one stopped and reports to `parent`. @pre
  /// no other actor of the task runs
  virtual task_handle run(caf::actor_system& system, const worker_handle& parent,
                          const tree_place& place, const logger& log) = 0;
  /// The number of error rows that `ignore_errors` has left out so far. May be called while an
  /// actor runs.
  virtual uint64_t ignored() const = 0;
  /// The activity of the task's operators in the last seconds. May be called while an actor runs.
  virtual std::vector<operator_activity> operators(time_point now) const = 0;

  // -- only while no actor lives ----------------------------------------------------------

  /// True if the last actor crashed inside an event: the state may be half changed, and unusable.
  virtual bool torn() const = 0;
  /// The progress of the task.
  virtual task_numbers made() const = 0;
  /// Records that the worker leaves: the next actor finishes the splits that the task has begun,
  /// and gives back the others.
  virtual void leave() = 0;
  /// Sets the readers that the next actor serves.
  virtual void name_readers(const task_readers& who) = 0;
  /// Reports to consumers with open streams that the task failed.
  virtual void fail_streams(const status& why) = 0;
};

/// Makes the task that an order describes. The second argument is the graph of the order.
using host_task = std::function<std::unique_ptr<hosted_task>(const task_order&, dataset_ptr graph)>;

} // namespace headrace::detail
