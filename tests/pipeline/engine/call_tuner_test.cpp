#include "headrace/pipeline/engine/call_tuner.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

/// An operator whose calls take `cost` for a row, and whose reader takes `pace` for a row. A row
/// takes the longer of `pace` and `cost` divided by the number of calls. An observation has 1,000
/// rows.
struct simulated {
  std::chrono::nanoseconds cost, pace;
  size_t bytes = 1;

  void run(call_tuner& tuner, call_tuner::operator_id which, int windows = 1) const {
    for (int i = 0; i < windows; ++i) {
      const auto made = cost / static_cast<int64_t>(tuner.calls(which));
      const auto passed = std::max(made, pace) * 1000;
      tuner.observe(which, {passed, made > pace ? passed - pace * 1000 : 0ns, 1000, bytes});
    }
  }
};

TEST(CallTuner, AddsCallsUntilTheReaderDoesNotWait) {
  call_tuner tuner{{.calls = 16}};
  const auto it = tuner.add();
  EXPECT_EQ(tuner.calls(it), 1u);
  simulated{.cost = 5us, .pace = 1us}.run(tuner, it, 6);
  EXPECT_EQ(tuner.calls(it), 5u);
}

TEST(CallTuner, StaysWithinItsBudgetOfCalls) {
  call_tuner tuner{{.calls = 4}};
  const auto a = tuner.add(), b = tuner.add();
  for (int i = 0; i < 200; ++i) {
    simulated{.cost = 100us, .pace = 1us}.run(tuner, a);
    simulated{.cost = 100us, .pace = 1us}.run(tuner, b);
    EXPECT_LE(tuner.calls(a) + tuner.calls(b), 4u);
    EXPECT_GE(tuner.calls(b), 1u);
  }
  tuner.remove(a);
  simulated{.cost = 100us, .pace = 1us}.run(tuner, b, 100);
  EXPECT_EQ(tuner.calls(b), 4u);
}

TEST(CallTuner, StaysWithinItsBudgetOfBytes) {
  call_tuner tuner{{.calls = 64, .bytes = 1000}};
  const auto it = tuner.add();
  simulated{.cost = 100us, .pace = 1us, .bytes = 300}.run(tuner, it, 50);
  EXPECT_EQ(tuner.calls(it), 3u);
  simulated{.cost = 100us, .pace = 1us, .bytes = 600}.run(tuner, it, 50);
  EXPECT_EQ(tuner.calls(it), 1u);
}

TEST(CallTuner, TakesBackACallThatDidNotHelp) {
  call_tuner tuner{{.calls = 16}};
  const auto it = tuner.add();
  size_t most = 0;
  for (int i = 0; i < 15; ++i) { // the input is slow, whatever the number of calls
    tuner.observe(it, {1ms, 900us, 1000, 1});
    most = std::max(most, tuner.calls(it));
  }
  EXPECT_EQ(most, 2u);
  EXPECT_EQ(tuner.calls(it), 1u);
}

TEST(CallTuner, KeepsACallThatHelpedThoughItFirstMetWithOtherLoad) {
  call_tuner tuner{{.calls = 2}};
  const auto it = tuner.add();
  tuner.observe(it, {10ms, 9ms, 1000, 1});
  tuner.observe(it, {20ms, 18ms, 1000, 1}); // another program used the cores
  tuner.observe(it, {5ms, 4ms, 1000, 1});
  for (int i = 0; i < 10; ++i) tuner.observe(it, {5ms, 4ms, 1000, 1});
  EXPECT_EQ(tuner.calls(it), 2u);
}

TEST(CallTuner, BeginsWithAsManyAsTheBudgetHas) {
  call_tuner tuner{{.calls = 8}};
  const auto a = tuner.add(5), b = tuner.add(SIZE_MAX), c = tuner.add(SIZE_MAX);
  EXPECT_EQ(tuner.calls(a), 5u);
  EXPECT_EQ(tuner.calls(b), 3u);
  EXPECT_EQ(tuner.calls(c), 1u); // each operator has at least one call
}

TEST(CallTuner, GivesCallsUpThatNobodyWaitsFor) {
  call_tuner tuner{{.calls = 16}};
  const auto it = tuner.add();
  simulated{.cost = 5us, .pace = 1us}.run(tuner, it, 6);
  simulated{.cost = 1us, .pace = 5us}.run(tuner, it, 100);
  EXPECT_EQ(tuner.calls(it), 1u);
}

TEST(CallTuner, KeepsItsHandsOffWhenItMayNotAdapt) {
  call_tuner tuner{{.calls = 3, .adapts = false}};
  const auto it = tuner.add();
  simulated{.cost = 100us, .pace = 1us}.run(tuner, it, 50);
  EXPECT_EQ(tuner.calls(it), 3u);
}

} // namespace
} // namespace headrace::detail
