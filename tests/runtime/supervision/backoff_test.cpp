#include "headrace/runtime/supervision/backoff.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DrawsFromItsJitterAndRepeatsForItsSeed) {
  backoff_options options{.first = 100ms, .longest = 10s, .factor = 1, .jitter = 0.5};
  backoff x{options, 7}, y{options, 7}, z{options, 8};
  auto differ = false;
  for (int i = 0; i < 1000; ++i) {
    auto wait = x.failed(0s);
    EXPECT_GE(wait, 50ms);
    EXPECT_LE(wait, 150ms);
    EXPECT_EQ(wait, y.failed(0s));
    differ |= wait != z.failed(0s);
  }
  EXPECT_TRUE(differ);
}

TEST(Backoff, NeverPassesItsBound) {
  backoff x{{.first = 1s, .longest = 10s, .jitter = 0.5}, 1};
  for (int i = 0; i < 5000; ++i) EXPECT_LE(x.failed(0s), 10s);
}

} // namespace
} // namespace headrace::detail
