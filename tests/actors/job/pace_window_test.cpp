#include "headrace/actors/job/splits/pace_window.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

TEST(PaceWindow, ShowsTheLastSeconds) {
  pace_window x;
  x.add({.elapsed = 1s, .waited = 1s, .elements = 0, .bytes = 0});
  EXPECT_LT(x.of_late().waited, 0) << "not known yet";
  for (int i = 2; i <= 10; ++i)
    x.add({.elapsed = 1s * i,
           .waited = 1s + 250ms * (i - 1),
           .elements = 100u * static_cast<uint64_t>(i),
           .bytes = 800u * static_cast<uint64_t>(i)});
  EXPECT_NEAR(x.of_late().waited, 0.25, 1e-9);
  EXPECT_NEAR(x.of_late().elements_per_second, 100, 1e-9);
  EXPECT_NEAR(x.of_late().bytes_per_second, 800, 1e-9);
  EXPECT_EQ(x.newest().elements, 1'000u);
}

TEST(PaceWindow, BeginsAnewWithTotalsThatDoNotBelongToTheEarlierOnes) {
  pace_window x;
  x.add({.elapsed = 5s, .waited = 2s, .elements = 50, .bytes = 1});
  x.add({.elapsed = 1s, .waited = 1s, .elements = 5, .bytes = 1});
  EXPECT_LT(x.of_late().waited, 0);
  x.add({.elapsed = 3s, .waited = 1s, .elements = 25, .bytes = 1});
  EXPECT_EQ(x.of_late().waited, 0);
  EXPECT_EQ(x.of_late().elements_per_second, 10);
}

} // namespace
} // namespace headrace::detail
