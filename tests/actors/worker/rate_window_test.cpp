#include "headrace/actors/worker/rate_window.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

TEST(RateWindow, IsZeroUntilSomethingCanBeSaid) {
  rate_window x;
  EXPECT_EQ(x.per_second(), 0);
  x.add(time_point{5s}, 0);
  EXPECT_EQ(x.per_second(), 0);
  x.add(time_point{5s}, 100);
  EXPECT_EQ(x.per_second(), 0) << "no time has passed";
}

TEST(RateWindow, TakesTheTimeThatReallyPassed) {
  rate_window x;
  x.add(time_point{}, 0);
  x.add(time_point{2500ms}, 500);
  EXPECT_EQ(x.per_second(), 200);
}

TEST(RateWindow, SmoothsBurstsAndForgetsWhatWasLongAgo) {
  rate_window x;
  for (int i = 0; i <= 60; ++i) x.add(time_point{i * 1s}, static_cast<uint64_t>(i / 5) * 5'000);
  EXPECT_EQ(x.per_second(), 1'000);
  for (int i = 61; i <= 70; ++i) x.add(time_point{i * 1s}, 60'000);
  EXPECT_EQ(x.per_second(), 0) << "nothing came for the whole window";
}

TEST(RateWindow, SpansTheSilenceOfAStarvedProcess) {
  rate_window x;
  x.add(time_point{}, 0);
  x.add(time_point{1s}, 100);
  x.add(time_point{100s}, 10'000);
  EXPECT_EQ(x.per_second(), 100);
}

} // namespace
} // namespace headrace::detail
