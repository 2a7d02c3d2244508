#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace headrace::detail::command {

/// Requests a dispatcher's status at an interval, on a thread of its own. So the loss of the
/// dispatcher's host is detected, too, although a lost host closes no connection.
class service_watch {
public:
  service_watch(std::string dispatcher, duration every);

  /// The time since the dispatcher last answered; zero if it answered the last request.
  duration silent_for() const {
    return failing_ ? clock::system().now() - last_.load() : duration::zero();
  }

private:
  std::string dispatcher_;
  duration every_;
  std::atomic<time_point> last_;
  std::atomic<bool> failing_ = false;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread asks_; ///< the last member: it ends before the other members, which it uses
};

} // namespace headrace::detail::command
