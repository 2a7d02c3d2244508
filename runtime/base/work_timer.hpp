#pragma once

#include <chrono>
#include <cstdint>

namespace headrace::detail {

/// Measures the cost of work on the calling thread, from construction on. If the thread did not
/// wait, the cost is its CPU time, so that time in which other threads had the CPU does not count;
/// otherwise it is the elapsed time.
class work_timer {
public:
  work_timer() noexcept;
  std::chrono::nanoseconds took() const noexcept;

private:
  struct reading {
    std::chrono::nanoseconds wall, cpu;
    int64_t waits = 0; ///< the number of times that the thread gave up the CPU voluntarily
  };
  static reading now() noexcept;

  reading begin_;
};

} // namespace headrace::detail
