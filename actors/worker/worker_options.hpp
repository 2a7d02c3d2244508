#pragma once

#include "headrace/actors/task_surroundings.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"
#include "headrace/runtime/node/node.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// The settings of a worker.
struct worker_options {
  std::string dispatcher; ///< `host:port`
  /// The `host:port` at which consumers reach the data port of the worker.
  std::string data_address;
  std::vector<std::string> tags;
  /// The place of this process, if consumers in it reach the worker without sockets; else zero.
  uint64_t place = 0;
  task_surroundings tasks;
  /// The number of stuck threads with which the worker cannot continue; 0: it always continues. A
  /// thread is stuck if it was requested to stop and was idle for a lease.
  size_t most_stuck = 0;
  /// Called once when the worker cannot continue because of stuck threads.
  std::function<void(const status&)> on_stuck;
  /// Called if the dispatcher has another major version, so that further attempts would fail, too.
  /// May be empty.
  std::function<void(const status&)> on_other_version;
  /// The interval of heartbeats, at most half of the dispatcher's lease; unset: that of the
  /// dispatcher.
  std::optional<duration> heartbeat;
  /// How long the dispatcher may leave messages unanswered before the worker gives up; unset:
  /// without limit.
  std::optional<duration> dispatcher_timeout;
  /// Called once when the worker has given up (deadline_exceeded). May be empty.
  std::function<void(const status&)> on_dispatcher_timeout;
  /// Called if the dispatcher has a list of workers without an entry for this one, so that further
  /// attempts would fail, too. May be empty.
  std::function<void(const status&)> on_not_listed;
  /// Called when the worker has left because its dispatcher ordered that: the process no longer
  /// runs tasks. May be empty.
  std::function<void()> on_left;
  /// The time limit in which a leaving worker sends its consumers the elements of the splits that
  /// its tasks have begun. Splits that are not begun go back to the jobs in any case.
  duration drain = std::chrono::milliseconds{500};
  /// Set to true by an owner that ends the whole service: no other worker could take over, so the
  /// worker waits for nothing.
  std::shared_ptr<std::atomic<bool>> at_once = std::make_shared<std::atomic<bool>>(false);
  /// The past of the process, for the supervision tree in the status.
  process_past past;
  /// The metrics of the worker's node.
  std::shared_ptr<metric_registry> metrics = std::make_shared<metric_registry>();
  /// When a file of a saved dataset has this many bytes, a further file is begun.
  uint64_t most_save_file_bytes = uint64_t{6} << 30;
  /// Called for the worker's actor, and for each one that replaces it after a crash; may be empty.
  std::function<void(const caf::actor&)> on_start;
};

} // namespace headrace::detail
