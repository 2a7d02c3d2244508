#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace headrace::detail::command {

/// Asks a dispatcher for its status from time to time, in a thread of its own, so that it is
/// noticed when its host is gone: no connection ends then.
class service_watch {
public:
  service_watch(std::string dispatcher, duration every);

  /// How long it is since it answered; zero if it answered the last request.
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
  std::jthread asks_; ///< ends before what it uses
};

} // namespace headrace::detail::command
