#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace headrace {

/// How far a worker is that is to leave its service.
struct draining_worker {
  uint64_t worker = 0; ///< its number
  std::string address; ///< of its data port
  uint32_t tasks = 0;  ///< that it last said to have
  bool left = false;   ///< it has left, in order
};

struct drain_options {
  /// How long to wait until the worker has left, and for a dispatcher that is away for a moment.
  duration timeout = std::chrono::seconds{60};
  /// Told at once, and each time that the worker is further. May be empty.
  std::function<void(const draining_worker&)> on_progress;
  /// Ends the wait between two answers: `cancelled`. The worker goes on leaving.
  std::stop_token stop;
};

/// Has a worker leave its service in order, and waits until it has: it gets no new tasks, gives
/// trainers what it has begun, which takes at most the time that it was started with (`drain`), and
/// gives back the rest. Its process ends. `worker`: its address (`host:port`) or its number, as
/// `headrace status` shows them. To ask again is as good as to have asked once.
///
/// Errors: `invalid_argument`: `worker` is neither. `unavailable`: no dispatcher answers.
/// `not_found`: it has no such worker; names those that there are. `deadline_exceeded`: `timeout`
/// is over; the worker goes on leaving. `aborted`: it was lost before it had left, or it has left,
/// and its time was over before all that it had begun had reached its trainers.
result<draining_worker> drain_worker(const std::string& dispatcher, const std::string& worker,
                                     const drain_options& how = {});

/// Whether `worker` could be the address or the number of one: as above.
status check_worker_name(const std::string& worker);

} // namespace headrace
