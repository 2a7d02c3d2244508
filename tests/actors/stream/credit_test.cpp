#include "headrace/actors/consumer/credit.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

constexpr uint64_t bytes = 1 << 20;
constexpr uint64_t little = 0;

TEST(StreamCredit, StartsSmallForASharedJobAndDoublesWhileTheTrainerKeepsUp) {
  stream_credit x{true, 0, bytes};
  EXPECT_EQ(x.now(0).elements, 16u);
  EXPECT_TRUE(x.update(16, 16, little, true));
  EXPECT_EQ(x.now(16).elements, 16u + 32u);
  EXPECT_TRUE(x.update(48, 48, little, true));
  EXPECT_EQ(x.now(48).elements, 48u + 64u);
}

TEST(StreamCredit, DoesNotGrowForATrainerThatLeavesSomethingLying) {
  stream_credit x{true, 0, bytes};
  for (uint64_t i = 1; i <= 100; ++i) (void)x.update(i, i + 3, little, false);
  EXPECT_EQ(x.now(0).elements, 16u);
}

TEST(StreamCredit, NeverGrowsBeyondItsBound) {
  stream_credit x{false, 5, bytes};
  for (uint64_t i = 5; i <= 100; i += 5) (void)x.update(i, i, little, true);
  EXPECT_EQ(x.now(0).elements, 5u);
  x.bound(2);
  EXPECT_EQ(x.now(0).elements, 2u);
}

TEST(StreamCredit, TellsWhenHalfTheElementsAreUsed) {
  stream_credit x{true, 0, bytes};
  EXPECT_FALSE(x.update(7, 16, bytes, false));
  EXPECT_TRUE(x.update(8, 16, bytes, false));
  EXPECT_FALSE(x.update(8, 16, bytes, false));
}

TEST(StreamCredit, TellsWhenHalfTheBytesAreFree) {
  stream_credit x{false, 0, bytes};
  EXPECT_FALSE(x.update(1, 4, bytes / 2 + 1, false));
  EXPECT_TRUE(x.update(2, 4, bytes / 2, false));
}

TEST(StreamCredit, TellsThatTheTrainerWaitsAndAgainAfterSomethingCame) {
  stream_credit x{true, 0, bytes};
  EXPECT_TRUE(x.update(0, 0, little, true));
  EXPECT_FALSE(x.update(0, 0, little, true));
  EXPECT_TRUE(x.update(1, 1, little, true));
  EXPECT_TRUE(x.update(1, 2, little, true)) << "it came and was taken back";
}

TEST(StreamCredit, MakesRoomForThreeLargeElements) {
  stream_credit x{false, 0, bytes};
  x.make_room(100, 64 * bytes);
  EXPECT_EQ(x.now(0).bytes, bytes);
  x.make_room(bytes, 64 * bytes);
  EXPECT_EQ(x.now(0).bytes, 3 * bytes);
  x.make_room(30 * bytes, 64 * bytes);
  EXPECT_EQ(x.now(0).bytes, 64 * bytes);
}

} // namespace
} // namespace headrace
