#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <optional>
#include <vector>

namespace headrace::detail::command {

/// Decides about signals for a command that runs beside other processes of ours. A signal may be
/// sent to one of them alone, or to all processes of a group or a job step, the command among them.
/// So what different processes receive within a second is one signal, and the command is sent it
/// only if it does not have it yet.
class passed_signals {
public:
  enum class place {
    ours,      ///< a process of ours received it
    beside_it, ///< so did a process that whoever signals many cannot tell from the command
  };

  /// `at` must not go back.
  void received(int signal, place where, time_point at);
  /// The signals that the command is to be sent now; each is returned once.
  std::vector<int> due(time_point at);

  /// The first signal to stop (`asks_to_stop`), and when it came.
  struct stop {
    int signal = 0;
    time_point at;
  };
  const std::optional<stop>& first_stop() const noexcept { return first_; }
  /// Another one came a second or more after the first.
  bool stopped_again() const noexcept { return again_; }

private:
  struct arrival {
    int signal = 0;
    time_point at;
    bool command_has_it = false;
    bool decided = false;
  };

  std::vector<arrival> arrivals_; ///< of the last second
  std::optional<stop> first_;
  bool again_ = false;
};

/// True for SIGTERM, SIGINT, SIGHUP and SIGQUIT, unless this process was started with that signal
/// ignored (`nohup`): other signals are for the command alone.
bool asks_to_stop(int signal);

} // namespace headrace::detail::command
