#include "headrace/actors/stream/received_splits.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::detail {
namespace {

constexpr task_id task{7};
using runs = std::vector<split_run>;

/// A block of rows, each of which descends from a split of its own: `first`, `first + 1`, ...
block rows_of(uint64_t first, uint32_t rows) {
  block out;
  out.rows = rows;
  out.origins = {{.rows = rows, .split = first, .step = 1}};
  return out;
}

TEST(ReceivedSplits, NameWhatCameWhetherItIsHandedOutOrNot) {
  received_splits x;
  x.add(rows_of(10, 5));
  x.add(rows_of(20, 5));
  x.handed_out(7);
  const auto said = x.receipt_of(task);
  EXPECT_EQ(said.reached, (runs{{0, 0, {10, 5}}, {0, 0, {20, 5}}}));
  EXPECT_EQ(said.newest, (split_run{0, 0, {24, 1}}));
  EXPECT_EQ(said.given_back, 0u);
  EXPECT_EQ(x.receipt_of(task), said) << "once more";
}

TEST(ReceivedSplits, NameNothingThatWentBack) {
  received_splits x;
  x.add(rows_of(10, 5));
  x.add(rows_of(20, 5));
  x.handed_out(2);
  x.give_back(4);
  x.add(rows_of(30, 3));
  x.give_back(6);
  const auto said = x.receipt_of(task);
  EXPECT_EQ(said.reached, (runs{{0, 0, {10, 4}}, {0, 0, {30, 2}}}));
  EXPECT_EQ(said.given_back, 7u);
}

TEST(ReceivedSplits, NameASplitOfWhichARowStayed) {
  received_splits x;
  block b;
  b.rows = 6;
  b.origins = {{.rows = 3, .split = 1, .step = 0}, {.rows = 3, .split = 2, .step = 0}};
  x.add(b);
  x.handed_out(1);
  x.give_back(2);
  EXPECT_EQ(x.receipt_of(task).reached, (runs{{0, 0, {1, 1}}}));
}

TEST(ReceivedSplits, CountFromWhereTheStreamBegins) {
  received_splits x;
  x.begin_at(100);
  x.add(rows_of(10, 5));
  x.handed_out(101);
  x.give_back(102);
  const auto said = x.receipt_of(task);
  EXPECT_EQ(said.reached, (runs{{0, 0, {10, 2}}}));
  EXPECT_EQ(said.newest, (split_run{0, 0, {11, 1}}));
  EXPECT_EQ(said.given_back, 3u);
}

TEST(ReceivedSplits, TakeNoMarkThatCannotBe) {
  received_splits x;
  x.add(rows_of(10, 5));
  x.handed_out(100);
  x.give_back(3);
  EXPECT_EQ(x.receipt_of(task).reached, (runs{{0, 0, {10, 5}}})) << "it was handed out";
}

TEST(ReceivedSplits, KnowNothingOfRowsWithoutOrigins) {
  received_splits x;
  block b;
  b.rows = 3;
  x.add(b);
  x.handed_out(1);
  EXPECT_EQ(x.receipt_of(task).from_pass, UINT64_MAX);
}

} // namespace
} // namespace headrace::detail
