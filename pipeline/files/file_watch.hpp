#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace headrace::detail {

/// Waits for files that processes on other hosts write. Shared file systems do not report new
/// files, so the caller checks for them repeatedly, with growing pauses.
class file_watch {
public:
  file_watch(duration limit, std::stop_token stop)
    : end_(clock::system().now() + limit), stop_(std::move(stop)) {}

  bool over() const { return clock::system().now() >= end_; }
  /// To be called after each check that did not find the files. `cancelled`: a stop was requested.
  status pause() {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock{mutex};
    never.wait_for(lock, stop_, next_, [] { return false; });
    next_ = std::min<duration>(2 * next_, std::chrono::milliseconds{500});
    return stop_.stop_requested() ? cancelled("the wait for saved elements was ended") : status{};
  }

private:
  time_point end_;
  std::stop_token stop_;
  duration next_ = std::chrono::milliseconds{5};
};

} // namespace headrace::detail
