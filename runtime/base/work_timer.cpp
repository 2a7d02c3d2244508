#include "headrace/runtime/base/work_timer.hpp"

#include <ctime>
#include <sys/resource.h>

namespace headrace::detail {

namespace {

std::chrono::nanoseconds read_clock(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

} // namespace

work_timer::reading work_timer::now() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID), used.ru_nvcsw};
}

work_timer::work_timer() noexcept : begin_(now()) {}

std::chrono::nanoseconds work_timer::took() const noexcept {
  const auto end = now();
  return end.waits == begin_.waits ? end.cpu - begin_.cpu : end.wall - begin_.wall;
}

} // namespace headrace::detail
