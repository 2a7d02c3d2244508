#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace headrace::detail {

/// The threads of a process that were requested to stop and have not ended. A busy thread will
/// check its stop token sooner or later. A thread that is idle for long is taken to be stuck in
/// foreign code; it is only counted, and nothing waits for it. Thread-safe.
class stopping_threads {
public:
  using token = uint64_t;
  /// Returns the processor time that a thread has used so far. Called until the thread is removed.
  using cpu_time = std::function<duration()>;

  /// Adds a thread, which must remove itself before it ends.
  token add(time_point now, cpu_time used) {
    std::lock_guard lock{mutex_};
    const auto so_far = used();
    told_.emplace(++last_, entry{std::move(used), now, so_far});
    return last_;
  }
  void remove(token which) {
    std::lock_guard lock{mutex_};
    told_.erase(which);
  }
  /// The number of threads that were idle for `patience`. Only calls of this function notice busy
  /// threads: a thread that was busy between two calls counts as idle from the second call on.
  size_t stuck(time_point now, duration patience) {
    std::lock_guard lock{mutex_};
    size_t out = 0;
    for (auto& [token, x] : told_) {
      const auto used = x.used();
      if (used - x.used_before > (now - x.idle_since) / busy_share) {
        x.idle_since = now;
        x.used_before = used;
      }
      out += x.idle_since + patience <= now;
    }
    return out;
  }

private:
  /// A thread is busy if it uses more processor time than the elapsed time divided by this number.
  /// A stuck thread uses none; a busy one may get little processor time if many threads are ready
  /// to run.
  static constexpr int busy_share = 200;
  struct entry {
    cpu_time used;
    time_point idle_since;
    duration used_before{}; ///< the processor time at `idle_since`
  };

  std::mutex mutex_;
  std::map<token, entry> told_;
  token last_ = 0;
};

} // namespace headrace::detail
