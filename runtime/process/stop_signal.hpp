#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace headrace {

struct stop_options {
  /// From the signal to the end of the process: what has not stopped by then is not waited for.
  duration budget = std::chrono::milliseconds{900};
};

/// Makes SIGTERM and SIGINT (and SIGHUP) an event of this process. From the first one on a clock
/// runs: if the process still lives after the budget it ends in `_exit` with
/// `exit_code::stop_overrun`, whatever hangs. The clock stops when the object is destroyed, so it
/// is the first local of `main`, made before there are other threads (they inherit the blocked
/// signals), and outlives all that may hang.
class stop_signal {
public:
  explicit stop_signal(stop_options options = {});
  ~stop_signal();
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  /// Waits for a signal and returns its number; 0 after `request()`.
  int wait();
  /// As `wait()`, for at most `limit`.
  std::optional<int> wait(duration limit);
  bool stopped() const;
  /// Calls `f(signal)` once, from a thread of its own, or at once if it has stopped already.
  void on_stop(std::function<void(int)> f);
  /// Stops as a signal would; the clock runs then, too.
  void request();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
