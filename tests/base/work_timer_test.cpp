#include "headrace/runtime/base/work_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <sys/resource.h>
#include <thread>

namespace headrace::detail {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

nanoseconds since(steady_clock::time_point begin) { return steady_clock::now() - begin; }

int64_t waits_of_this_thread() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

TEST(WorkTimer, CountsNoMoreThanTheTimeOnTheWall) {
  const auto begin = steady_clock::now();
  const work_timer timer;
  volatile uint64_t x = 0;
  for (int i = 0; i < 1'000'000; ++i) x = x + 1;
  const auto took = timer.took();
  EXPECT_GT(took, nanoseconds{0});
  EXPECT_LE(took, since(begin));
}

TEST(WorkTimer, CountsTheTimeThatTheThreadWaitsForAnother) {
  std::promise<void> asked, answered;
  nanoseconds between{0};
  std::jthread other{[&] {
    asked.get_future().wait();
    const auto begin = steady_clock::now();
    // The wait is much longer than the code around it takes.
    while (since(begin) < std::chrono::milliseconds{20}) std::this_thread::yield();
    between = since(begin);
    answered.set_value();
  }};
  const auto before = waits_of_this_thread();
  const work_timer timer;
  asked.set_value();
  answered.get_future().wait();
  const auto took = timer.took();
  // On a busy machine the answer may exist before this thread waits for it.
  if (waits_of_this_thread() != before) {
    EXPECT_GE(took, between);
  }
}

} // namespace
} // namespace headrace::detail
