#include "headrace/actors/stream/stream_credit.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

constexpr uint64_t bytes = 1 << 20;
constexpr uint64_t little = 0;

TEST(StreamCredit, StartsSmallForASharedJobAndDoublesWhileTheTrainerKeepsUp) {
  stream_credit x{true, 0, bytes};
  EXPECT_EQ(x.now(0).elements, 16u);
  EXPECT_TRUE(x.update({.handed_out = 16, .received = 16, .held = little, .waiting = true}));
  EXPECT_EQ(x.now(16).elements, 16u + 32u);
  EXPECT_TRUE(x.update({.handed_out = 48, .received = 48, .held = little, .waiting = true}));
  EXPECT_EQ(x.now(48).elements, 48u + 64u);
}

TEST(StreamCredit, DoesNotGrowForATrainerThatLeavesSomethingLying) {
  stream_credit x{true, 0, bytes};
  for (uint64_t i = 1; i <= 100; ++i)
    (void)x.update({.handed_out = i, .received = i + 3, .held = little, .waiting = false});
  EXPECT_EQ(x.now(0).elements, 16u);
}

TEST(StreamCredit, NeverGrowsBeyondItsBound) {
  stream_credit x{false, 5, bytes};
  for (uint64_t i = 5; i <= 100; i += 5)
    (void)x.update({.handed_out = i, .received = i, .held = little, .waiting = true});
  EXPECT_EQ(x.now(0).elements, 5u);
  EXPECT_FALSE(x.bound(2, bytes));
  EXPECT_EQ(x.now(0).elements, 2u);
  EXPECT_TRUE(x.bound(4, bytes)) << "others have left: there is more for this one";
  EXPECT_EQ(x.now(0).elements, 4u);
}

TEST(StreamCredit, TellsWhenHalfTheElementsAreUsed) {
  stream_credit x{true, 0, bytes};
  EXPECT_FALSE(x.update({.handed_out = 7, .received = 16, .held = bytes, .waiting = false}));
  EXPECT_TRUE(x.update({.handed_out = 8, .received = 16, .held = bytes, .waiting = false}));
  EXPECT_FALSE(x.update({.handed_out = 8, .received = 16, .held = bytes, .waiting = false}));
}

TEST(StreamCredit, TellsASharedJobWhenHalfTheBytesAreFree) {
  stream_credit x{true, 0, bytes};
  EXPECT_FALSE(x.update({.handed_out = 1, .received = 4, .held = bytes / 2 + 1, .waiting = false}));
  EXPECT_TRUE(x.update({.handed_out = 2, .received = 4, .held = bytes / 2, .waiting = false}));
}

TEST(StreamCredit, TellsThatTheTrainerWaitsAndAgainAfterSomethingCame) {
  stream_credit x{true, 0, bytes};
  EXPECT_TRUE(x.update({.handed_out = 0, .received = 0, .held = little, .waiting = true}));
  EXPECT_FALSE(x.update({.handed_out = 0, .received = 0, .held = little, .waiting = true}));
  EXPECT_TRUE(x.update({.handed_out = 1, .received = 1, .held = little, .waiting = true}));
  EXPECT_TRUE(x.update({.handed_out = 1, .received = 2, .held = little, .waiting = true}))
    << "it came and was taken back";
}

TEST(StreamCredit, TellsTheTaskOfOneConsumerWhenAQuarterOfTheBytesWasUsed) {
  stream_credit x{false, 0, bytes};
  EXPECT_EQ(x.quiet_bytes(), bytes / 4);
  EXPECT_FALSE(x.update({.handed_out = 1, .received = 9, .taken = bytes / 4 - 1}));
  EXPECT_FALSE(x.update({.handed_out = 2, .received = 2, .taken = bytes / 4 - 1, .waiting = true}));
  EXPECT_TRUE(x.update({.handed_out = 3, .received = 9, .taken = bytes / 4}));
  EXPECT_FALSE(x.update({.handed_out = 4, .received = 9, .taken = bytes / 2 - 1}));
}

TEST(StreamCredit, TellsTheTaskOfOneConsumerTheLastElementAtOnce) {
  stream_credit x{false, 0, bytes};
  EXPECT_FALSE(x.update({.handed_out = 1, .received = 2}));
  EXPECT_TRUE(x.update({.handed_out = 2, .received = 2, .ended = true}));
  EXPECT_FALSE(x.update({.handed_out = 2, .received = 2, .ended = true}));
}

TEST(StreamCredit, LooksAtEachElementWhereTheyAreCounted) {
  EXPECT_EQ((stream_credit{false, 10, bytes}.quiet_bytes()), 0u);
  EXPECT_EQ((stream_credit{true, 0, bytes}.quiet_bytes()), 0u);
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
} // namespace headrace::detail
