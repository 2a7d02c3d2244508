#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <ctime>

namespace headrace::detail {

/// The processor time of a thread's clock (pthread_getcpuclockid). Zero if it cannot be read.
inline duration cpu_time_of(clockid_t which) {
  timespec used{};
  if (::clock_gettime(which, &used) != 0)
    return duration{0};
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

} // namespace headrace::detail
