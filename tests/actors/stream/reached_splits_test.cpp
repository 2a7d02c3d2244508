#include "headrace/actors/stream/reached_splits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace headrace::detail::test {
namespace {

constexpr task_id task{1};

origin run(uint64_t split, uint32_t rows, uint64_t step = 1, uint64_t pass = 0) {
  return {.rows = rows, .pass = pass, .split = split, .step = step};
}
block rows(std::vector<origin> of) {
  block out;
  for (const auto& x : of) out.rows += x.rows;
  out.origins = std::move(of);
  return out;
}
std::vector<split_run> runs(std::initializer_list<split_range> of) {
  std::vector<split_run> out;
  for (const auto& x : of) out.push_back({0, 0, x});
  return out;
}
bool names(const split_receipt& x, uint64_t pass, uint64_t split) {
  if (pass < x.from_pass)
    return true;
  // The first run that begins after the split; all runs are of one source.
  auto after =
    std::ranges::upper_bound(x.reached, std::pair{pass, split}, {}, [](const split_run& r) {
      return std::pair{r.pass, r.splits.first};
    });
  if (after == x.reached.begin())
    return false;
  const auto& r = *--after;
  return r.pass == pass && split - r.splits.first < r.splits.count;
}

TEST(ReachedSplits, NamesNothingWhereNothingCame) {
  EXPECT_EQ(reached_splits{}.receipt_of(task), (split_receipt{.task = task}));
}

TEST(ReachedSplits, JoinsWhatIsSideBySideInAnyOrder) {
  reached_splits x;
  x.add(rows({run(10, 5), run(3, 1)}));
  x.add(rows({run(15, 1), run(4, 1)}));
  const auto out = x.receipt_of(task);
  EXPECT_EQ(out.reached, runs({{3, 2}, {10, 6}}));
  EXPECT_EQ(out.newest, (split_run{0, 0, {4, 1}}));
}

TEST(ReachedSplits, KnowsARunOfOneSplitAndOneWithGaps) {
  reached_splits x;
  x.add(rows({run(7, 100, 0), run(20, 3, 2), run(40, 2, uint64_t(0) - 1)}));
  EXPECT_EQ(x.receipt_of(task).reached, runs({{7, 1}, {20, 1}, {22, 1}, {24, 1}, {39, 2}}));
}

TEST(ReachedSplits, HoldsLongRunsInLittle) {
  reached_splits x;
  x.add(rows({run(5, 400'000'000)}));
  EXPECT_EQ(x.receipt_of(task).reached, runs({{5, 400'000'000}}));
  x.add(rows({run(100, 10)}));
  EXPECT_EQ(x.receipt_of(task).reached.size(), 1u);
}

TEST(ReachedSplits, MayNameMoreAndNeverLessWhenThereIsTooMuch) {
  reached_splits x;
  std::mt19937_64 random{7};
  std::set<uint64_t> all;
  for (int i = 0; i < 50'000; ++i) all.insert(random() % (uint64_t{1} << 40));
  for (auto split : all) x.add(rows({run(split, 1)}));
  const auto out = x.receipt_of(task);
  EXPECT_LE(out.reached.size(), most_receipt_runs);
  EXPECT_TRUE(out.approximate);
  for (auto split : all) ASSERT_TRUE(names(out, 0, split)) << split;
}

TEST(ReachedSplits, RemembersEachRowOfAShuffleOfManyExactly) {
  // The splits of the rows that one of two readers received; the task shuffles 300,000 rows.
  reached_splits x;
  std::mt19937_64 random{13};
  uint64_t came = 0;
  for (uint64_t split = 0; split < 300'000; ++split)
    if (random() % 2 == 0) {
      x.add(rows({run(split, 1)}));
      ++came;
    }
  const auto out = x.receipt_of(task);
  EXPECT_FALSE(out.approximate);
  uint64_t named = 0;
  for (const auto& one : out.reached) named += one.splits.count;
  EXPECT_EQ(named, came);
}

TEST(ReachedSplits, ClosesNoMoreGapsThanItMust) {
  reached_splits x;
  for (uint64_t split = 0; split < 100; ++split) x.add(rows({run(2 * split, 1)}));
  const auto out = x.receipt_of(task, 60);
  EXPECT_TRUE(out.approximate);
  EXPECT_EQ(out.reached.size(), 60u);
  for (uint64_t split = 0; split < 100; ++split) ASSERT_TRUE(names(out, 0, 2 * split));
}

TEST(ReachedSplits, CountsPassesLongPastAsReachedAsAWhole) {
  reached_splits x;
  for (uint64_t pass = 0; pass < 1000; ++pass) x.add(rows({run(pass, 1, 1, pass)}));
  const auto out = x.receipt_of(task);
  EXPECT_EQ(out.from_pass, 1000 - reached_splits::most_passes);
  for (uint64_t pass = 0; pass < 1000; ++pass) ASSERT_TRUE(names(out, pass, pass));
  EXPECT_FALSE(names(out, 999, 0));
}

TEST(ReachedSplits, KnowNothingWhereRowsDoNotSayWhereTheyAreFromOrSayNonsense) {
  reached_splits x;
  x.add({.rows = 1});
  EXPECT_EQ(x.receipt_of(task).from_pass, UINT64_MAX);
  for (const auto split : {UINT64_MAX, UINT64_MAX - 4000, uint64_t{1} << 62}) {
    reached_splits y;
    y.add(rows({run(split, 5000)}));
    EXPECT_EQ(y.receipt_of(task).from_pass, UINT64_MAX);
  }
}

TEST(ReachedSplits, NamesWhatCameOfRandomBlocksAndNothingElse) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 20; ++round) {
    reached_splits x;
    std::set<uint64_t> came;
    for (int i = 0; i < 50; ++i) {
      const auto one = run(random() % 20'000, static_cast<uint32_t>(random() % 300 + 1),
                           random() % 4 == 0 ? random() % 3 : 1);
      x.add(rows({one}));
      for (uint64_t j = 0; j < one.rows; ++j) came.insert(one.split + j * one.step);
    }
    const auto out = x.receipt_of(task);
    uint64_t named = 0;
    for (const auto& r : out.reached) named += r.splits.count;
    EXPECT_EQ(named, came.size());
    for (auto split : came) ASSERT_TRUE(names(out, 0, split));
  }
}

} // namespace
} // namespace headrace::detail::test
