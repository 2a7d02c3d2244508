#include "headrace/client/command/run/passed_signals.hpp"

#include <algorithm>
#include <csignal>

namespace headrace::detail::command {
namespace {

/// Arrivals of the same signal within this time count as one signal.
constexpr auto together = std::chrono::seconds{1};
/// For this time after a signal's first arrival, the `signal_witness` may report that the command
/// has received the signal, too. If it reports nothing in that time, the signal is passed on.
constexpr auto until_passed = std::chrono::milliseconds{250};

} // namespace

void passed_signals::received(int signal, place where, time_point at) {
  std::erase_if(arrivals_, [&](const arrival& x) { return x.decided && at - x.at >= together; });
  auto it = std::ranges::find_if(
    arrivals_, [&](const arrival& x) { return x.signal == signal && at - x.at < together; });
  if (it == arrivals_.end()) {
    it = arrivals_.insert(it, {.signal = signal, .at = at});
    if (asks_to_stop(signal)) {
      again_ = again_ || (first_ && at - first_->at >= together);
      if (!first_)
        first_ = stop{signal, at};
    }
  }
  it->command_has_it = it->command_has_it || where == place::beside_it;
}

std::vector<int> passed_signals::due(time_point at) {
  std::vector<int> out;
  for (auto& x : arrivals_) {
    if (x.decided || (!x.command_has_it && at - x.at < until_passed))
      continue;
    x.decided = true;
    if (!x.command_has_it)
      out.push_back(x.signal);
  }
  return out;
}

bool asks_to_stop(int signal) {
  if (signal != SIGTERM && signal != SIGINT && signal != SIGHUP && signal != SIGQUIT)
    return false;
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_IGN;
}

} // namespace headrace::detail::command
