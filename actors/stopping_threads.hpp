#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

namespace headrace {

/// Threads of a process that were told to stop and have not ended. One that takes long is stuck in
/// foreign code: nobody waits for it, it is counted. Thread-safe.
class stopping_threads {
public:
  using token = uint64_t;

  token add(time_point now) {
    std::lock_guard lock{mutex_};
    told_at_.emplace(++last_, now);
    return last_;
  }
  void remove(token which) {
    std::lock_guard lock{mutex_};
    told_at_.erase(which);
  }
  /// Those that were told `patience` ago or earlier.
  size_t stuck(time_point now, duration patience) const {
    std::lock_guard lock{mutex_};
    return static_cast<size_t>(
      std::count_if(told_at_.begin(), told_at_.end(),
                    [&](const auto& entry) { return entry.second + patience <= now; }));
  }

private:
  mutable std::mutex mutex_;
  std::map<token, time_point> told_at_;
  token last_ = 0;
};

} // namespace headrace
