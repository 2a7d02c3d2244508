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

namespace headrace {

/// What a worker may be told.
struct worker_options {
  std::string dispatcher;   ///< `host:port`
  std::string data_address; ///< `host:port` where consumers reach its data port
  std::vector<std::string> tags;
  /// Of this process (process_place), if its consumers reach the worker without sockets; else zero.
  uint64_t place = 0;
  task_surroundings tasks;
  /// With so many stuck threads (told to stop a whole lease ago) the worker cannot go on; 0: it
  /// always does.
  size_t most_stuck = 0;
  /// Told once when `most_stuck` is reached.
  std::function<void(const status&)> on_stuck;
  /// Told that the dispatcher is of another major version: trying again would not help. May be
  /// empty.
  std::function<void(const status&)> on_other_version;
  /// How often the worker speaks to its dispatcher, at most half of the dispatcher's lease; unset:
  /// as often as that asks for.
  std::optional<duration> heartbeat;
  /// A worker whose dispatcher did not answer for so long gives up; unset: it never does.
  std::optional<duration> dispatcher_timeout;
  /// Told once (deadline_exceeded) that it gave up. May be empty.
  std::function<void(const status&)> on_dispatcher_timeout;
  /// Told that the dispatcher has a list of workers, and no place in it for this one: trying again
  /// would not help. May be empty.
  std::function<void(const status&)> on_not_listed;
  /// Told that the worker has left, as its dispatcher wanted it to: nothing runs here any more. May
  /// be empty.
  std::function<void()> on_left;
  /// How long a worker that is asked to end may take to give what it has begun to its consumers;
  /// what it has not begun goes back to the jobs in any case.
  duration drain = std::chrono::milliseconds{500};
  /// Set by who ends the whole service: nobody is left to go on, so nothing is waited for.
  std::shared_ptr<std::atomic<bool>> at_once = std::make_shared<std::atomic<bool>>(false);
  /// Of its process: shown with the supervision tree.
  process_past past;
  /// Where the worker counts: the registry of its node.
  std::shared_ptr<metric_registry> metrics = std::make_shared<metric_registry>();
  /// A file of a saved dataset that has so many bytes is followed by another one.
  uint64_t most_save_file_bytes = uint64_t{6} << 30;
  /// Told of each actor that the worker gets; may be empty.
  std::function<void(const caf::actor&)> on_start;
};

} // namespace headrace
