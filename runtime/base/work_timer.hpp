#pragma once

#include <chrono>
#include <cstdint>

namespace headrace {

/// Measures what a piece of work costs the calling thread, from construction on: as long as the
/// thread waits for nothing, its CPU time, so that other threads that had the CPU meanwhile do not
/// count; else the time on the wall.
class work_timer {
public:
  work_timer() noexcept;
  std::chrono::nanoseconds took() const noexcept;

private:
  struct reading {
    std::chrono::nanoseconds wall, cpu;
    int64_t waits = 0; ///< how often the thread gave the CPU up by itself
  };
  static reading now() noexcept;

  reading begin_;
};

} // namespace headrace
