#include "headrace/pipeline/iterator/iterator.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using std::chrono::microseconds;

TEST(BlockRamp, BeginsWithOneElementAndDoublesWhileBlocksAreCheap) {
  block_ramp ramp;
  for (size_t want : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(ramp.next().rows, want);
    ramp.record(want, want * 8, microseconds{1});
  }
}

TEST(BlockRamp, StaysWhereABlockCostsWhatItMay) {
  block_ramp ramp{{.most_time = microseconds{100}}};
  for (int i = 0; i < 50; ++i) {
    const auto rows = ramp.next().rows;
    ramp.record(rows, rows, microseconds{10 * rows});
  }
  EXPECT_EQ(ramp.next().rows, 10u);
  ramp.record(10, 10, microseconds{8000}); // rows have become costly
  EXPECT_LT(ramp.next().rows, 10u);
}

TEST(BlockRamp, FillsBlocksToTheBytesTheyMayHave) {
  block_ramp ramp{{.most_bytes = 1000}};
  for (int i = 0; i < 50; ++i) ramp.record(ramp.next().rows, ramp.next().rows * 7, {});
  EXPECT_GE(ramp.next().rows * 7, 900u);
  EXPECT_LE(ramp.next().rows * 7, 1000u);
}

TEST(BlockRamp, GrowsByTheCostOfARowWhereFewCome) {
  block_ramp ramp{{.most_time = microseconds{100}}};
  for (int i = 0; i < 50; ++i) ramp.record(1, 1, microseconds{1}); // each block has only one row
  EXPECT_LE(ramp.next().rows, 100u);
  EXPECT_GE(ramp.next().rows, 32u);
}

} // namespace
} // namespace headrace::detail
