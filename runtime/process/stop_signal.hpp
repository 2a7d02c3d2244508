#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <memory>
#include <optional>

namespace headrace::detail {

struct stop_options {
  /// The longest time from the signal to the end of the process. After this time the process ends
  /// even if a part of it has not stopped.
  duration budget = std::chrono::milliseconds{900};
};

/// Turns SIGTERM and SIGINT (and SIGHUP) into an event of this process. If the process has not
/// ended when the budget has passed after the first signal, it ends by `_exit` with
/// `exit_code::stop_overrun`, even if threads are blocked. The destructor cancels this limit, so
/// the object should be the first local variable of `main`, and outlive all objects that may block.
/// The constructor blocks the signals, which only threads that are started later inherit.
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
  /// Has the effect of a signal; the budget applies, too.
  void request();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail
