#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace headrace::detail::command {

/// Requests the status of a service at an interval, on a thread of its own, and calls a function
/// with each status that it receives. Requests that fail are ignored.
class status_watch {
public:
  using question = std::function<result<service_status>()>;

  /// `ask` requests the status, and `see` is called with it. Both are called on the object's
  /// thread, and may block.
  status_watch(duration interval, question ask, std::function<void(const service_status&)> see)
    : thread_(
      [this, interval, ask = std::move(ask), see = std::move(see)](const std::stop_token& stop) {
        std::unique_lock lock{mutex_};
        while (!changed_.wait_for(lock, stop, interval, [] { return false; })
               && !stop.stop_requested())
          if (const auto now = ask())
            see(*now);
      }) {}
  status_watch(const status_watch&) = delete;

private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  /// The last member: the thread ends before the other members, which it uses.
  std::jthread thread_;
};

} // namespace headrace::detail::command
