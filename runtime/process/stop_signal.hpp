#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace headrace {

struct stop_options {
  /// The time from the signal to the end of the process, even if something has not stopped by then.
  duration budget = std::chrono::milliseconds{900};
};

/// Turns SIGTERM and SIGINT (and SIGHUP) into an event of this process. After the first one, if the
/// process still lives when the budget is over, it ends by `_exit` with `exit_code::stop_overrun`,
/// whatever hangs. The destructor cancels that. So it should be the first local of `main`, made
/// before there are other threads (they inherit the blocked signals), and outlive all that may
/// hang.
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
  /// Calls `f(signal)` once, from a thread of its own; at once if a signal has come already.
  void on_stop(std::function<void(int)> f);
  /// Acts as a signal would; the budget runs then, too.
  void request();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
