#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <optional>
#include <vector>

namespace headrace::detail::command {

/// Decides which signals are passed on to the command of `headrace run`. A signal may be sent to a
/// single process of the run, or to all processes of a process group or job step, including the
/// command. So arrivals of the same signal in several processes within a second count as one
/// signal, which is passed on only if the command has not received it already.
class passed_signals {
public:
  enum class place {
    ours,      ///< a process of the run received the signal
    beside_it, ///< the `signal_witness`, in the command's group, received it: so did the command
  };

  /// @pre `at` is not before the time in an earlier call
  void received(int signal, place where, time_point at);
  /// The signals that must be passed on to the command now. Each signal is returned once.
  std::vector<int> due(time_point at);

  /// The first signal to stop (`asks_to_stop`), and the time of its arrival.
  struct stop {
    int signal = 0;
    time_point at;
  };
  const std::optional<stop>& first_stop() const noexcept { return first_; }
  /// True if a further signal to stop arrived a second or more after the first.
  bool stopped_again() const noexcept { return again_; }

private:
  struct arrival {
    int signal = 0;
    time_point at;
    bool command_has_it = false;
    bool decided = false;
  };

  std::vector<arrival> arrivals_; ///< the arrivals of the last second
  std::optional<stop> first_;
  bool again_ = false;
};

/// True if `signal` is a request to stop: SIGTERM, SIGINT, SIGHUP or SIGQUIT, unless this process
/// was started with that signal ignored, as by `nohup`. All other signals have no effect on this
/// process and are only passed on to the command.
bool asks_to_stop(int signal);

} // namespace headrace::detail::command
