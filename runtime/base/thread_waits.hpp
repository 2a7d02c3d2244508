#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <utility>

namespace headrace {

/// What the calling thread has waited for, in nanoseconds. Code that waits adds to it; code that
/// measures a call takes what was added during the call.
struct thread_waits {
  uint64_t lease_ns = 0;   ///< for splits of a job
  uint64_t storage_ns = 0; ///< for files
};

/// Those of the calling thread.
inline thread_waits& waits_here() noexcept {
  static thread_local thread_waits here;
  return here;
}

/// Adds the time from its construction to its destruction to one of the calling thread's waits.
class timed_wait {
public:
  explicit timed_wait(uint64_t thread_waits::*kind) noexcept : kind_(kind) {}
  timed_wait(const timed_wait&) = delete;
  ~timed_wait() {
    waits_here().*kind_ += static_cast<uint64_t>((clock::system().now() - began_).count());
  }

private:
  uint64_t thread_waits::*kind_;
  time_point began_ = clock::system().now();
};

/// While it exists, the calling thread's waits count from zero: what calls inside of a measured
/// call have waited belongs to them alone.
class own_waits {
public:
  own_waits() noexcept : outer_(std::exchange(waits_here(), {})) {}
  own_waits(const own_waits&) = delete;
  ~own_waits() { waits_here() = outer_; }
  /// The waits since its construction, without those that inner measurements took.
  const thread_waits& so_far() const noexcept { return waits_here(); }

private:
  thread_waits outer_;
};

} // namespace headrace
