#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace headrace::detail {

/// A thread's wait that is under way; other threads may read it.
struct wait_under_way {
  std::atomic<int64_t> since_ns{0}; ///< the start, as time since the clock's epoch; 0: no wait
  std::atomic<bool> for_lease{false};
};

/// The times for which a thread has waited, in nanoseconds, by cause. Code that waits adds to them;
/// code that measures a call takes the times that were added during the call.
struct thread_waits {
  uint64_t lease_ns = 0;           ///< for splits of a job
  uint64_t storage_ns = 0;         ///< for files
  wait_under_way* shows = nullptr; ///< where `timed_wait` shows its wait; null: nowhere
};

/// The waits of the calling thread.
inline thread_waits& waits_here() noexcept {
  static thread_local thread_waits here;
  return here;
}

/// Adds the time from its construction to its destruction to one count of the calling thread's
/// `thread_waits`. Meanwhile it shows the wait to other threads if `thread_waits::shows` is set.
class timed_wait {
public:
  explicit timed_wait(uint64_t thread_waits::*kind) noexcept : kind_(kind) {
    if (auto* shown = waits_here().shows) {
      shown->for_lease = kind == &thread_waits::lease_ns;
      shown->since_ns = began_.time_since_epoch().count();
    }
  }
  timed_wait(const timed_wait&) = delete;
  ~timed_wait() {
    auto& here = waits_here();
    if (here.shows != nullptr)
      here.shows->since_ns = 0;
    here.*kind_ += static_cast<uint64_t>((clock::system().now() - began_).count());
  }

private:
  uint64_t thread_waits::*kind_;
  time_point began_ = clock::system().now();
};

/// While this object exists, the calling thread's waits are counted from zero. The destructor
/// restores the earlier counts, so an enclosing `own_waits` object does not count these waits, too.
class own_waits {
public:
  /// `shows`: where waits are shown while they last; may be null.
  explicit own_waits(wait_under_way* shows = nullptr) noexcept
    : outer_(std::exchange(waits_here(), {.shows = shows})) {}
  own_waits(const own_waits&) = delete;
  ~own_waits() { waits_here() = outer_; }
  /// The waits since the construction, without those during the life of an `own_waits` object that
  /// was made later.
  const thread_waits& so_far() const noexcept { return waits_here(); }

private:
  thread_waits outer_;
};

} // namespace headrace::detail
