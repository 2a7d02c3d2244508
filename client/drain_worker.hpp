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
  uint64_t worker = 0; ///< the worker's number
  std::string address; ///< the address of the worker's data port
  uint32_t tasks = 0;  ///< the number of the worker's tasks, as last reported
  bool left = false;   ///< the worker has left, in order
};

struct drain_options {
  /// How long to wait until the worker has left, including waits for a dispatcher that cannot be
  /// reached for a short time.
  duration timeout = std::chrono::seconds{60};
  /// How this program connects to the service.
  headrace::session session = {};
  /// Called at once, and with each change of the progress. May be empty.
  std::function<void(const draining_worker&)> on_progress;
  /// Ends the wait between two answers; the error is `cancelled`. The worker continues to leave.
  std::stop_token stop;
};

/// Requests that a worker leave its service in order, and waits until it has left: it gets no new
/// tasks, sends trainers the elements that it has begun, within the time limit with which it was
/// started (`drain`), and gives back the remaining splits. Its process ends. `worker`: its address
/// (`host:port`) or its number, as shown by `headrace status`. The call may be repeated.
///
/// Errors: `invalid_argument`: `worker` is neither an address nor a number. `unavailable`: no
/// dispatcher answers. `not_found`: the service has no worker with that address or number; the
/// message lists the workers. `deadline_exceeded`: `timeout` has passed; the worker continues to
/// leave. `aborted`: the worker was lost before it had left, the worker's time limit had passed
/// before all elements that it had begun had reached its trainers, or the dispatcher was restarted
/// meanwhile without its state.
result<draining_worker> drain_worker(const std::string& dispatcher, const std::string& worker,
                                     const drain_options& how = {});

/// Ok if `worker` has the form of a worker's address or number.
status check_worker_name(const std::string& worker);

} // namespace headrace
