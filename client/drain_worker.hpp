#pragma once

#include "headrace/client/session.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace headrace {

/// The progress of a worker that is to leave its service.
struct draining_worker {
  uint64_t worker = 0; ///< its number
  std::string address; ///< of its data port
  uint32_t tasks = 0;  ///< as it last reported
  bool left = false;   ///< it has left, in order
};

struct drain_options {
  /// How long to wait until the worker has left, including a dispatcher that is away for a moment.
  duration timeout = std::chrono::seconds{60};
  /// How this program connects to the service.
  headrace::session session = {};
  /// Called at once, and with each change. May be empty.
  std::function<void(const draining_worker&)> on_progress;
  /// Ends the wait between two answers: `cancelled`. The worker continues to leave.
  std::stop_token stop;
};

/// Requests that a worker leave its service in order, and waits until it has: it gets no new tasks,
/// sends trainers what it has begun, which takes at most the time that it was started with
/// (`drain`), and gives back the rest. Its process ends. `worker`: its address (`host:port`) or its
/// number, as shown by `headrace status`. The call may be repeated.
///
/// Errors: `invalid_argument`: `worker` is neither. `unavailable`: no dispatcher answers.
/// `not_found`: there is no such worker; the message names the known ones. `deadline_exceeded`:
/// `timeout` has passed; the worker continues to leave. `aborted`: it was lost before it had left,
/// or its time was over before all that it had begun had reached its trainers.
result<draining_worker> drain_worker(const std::string& dispatcher, const std::string& worker,
                                     const drain_options& how = {});

/// Ok if `worker` may be the address or the number of a worker.
status check_worker_name(const std::string& worker);

} // namespace headrace
