#include "headrace/pipeline/graph/split_plan.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::scripted_splits;
using testing::ElementsAre;

std::optional<block> first_block(const dataset_ptr& graph, split_provider& splits,
                                 size_t rows = 1000) {
  iterator_context context;
  context.splits = &splits;
  return make_iterator(graph, context).value()->next({.rows = rows});
}

TEST(Splits, SourcesReadOnlyWhatTheyAreGiven) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{3, 2}}, {0, 0, split_range{0, 1}}};
  iterator_context context;
  context.splits = &splits;
  EXPECT_THAT(read_all(*make_iterator(range(0, 10), context).value()), ElementsAre("3", "4", "0"));
  using asked = scripted_splits::asked;
  EXPECT_THAT(splits.log, ElementsAre(asked{0, 0, 10}, asked{0, 0, 10}, asked{0, 0, 10}));
}

TEST(Splits, PastTheEndAreLeftOut) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{8, 5}}, {0, 0, split_range{20, 5}}};
  iterator_context context;
  context.splits = &splits;
  EXPECT_THAT(read_all(*make_iterator(range(0, 10), context).value()), ElementsAre("8", "9"));
}

TEST(Splits, PassesAreCountedThroughRepeats) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 1}}, {0, 1, split_range{1, 1}}, {0, 3, split_range{2, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto graph = make_repeat(make_repeat(range(0, 3), 2).value(), 2).value();
  EXPECT_THAT(read_all(*make_iterator(graph, context).value()), ElementsAre("0", "1", "2"));
}

TEST(Splits, SourcesAreNumberedDepthFirst) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 2}}, {1, 0, split_range{1, 2}}, {2, 0, split_range{2, 2}}};
  iterator_context context;
  context.splits = &splits;
  auto graph =
    make_zip({make_concatenate(range(0, 1), range(10, 20)).value(), range(100, 110)}).value();
  EXPECT_THAT(read_all(*make_iterator(graph, context).value(), always(1)),
              ElementsAre("0|102", "11|103"));
}

TEST(Splits, RowsCarryThem) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{4, 6}}};
  auto rows = first_block(make_batch(range(0, 10), 2).value(), splits, 3);
  ASSERT_TRUE(rows);
  // A batch descends from the split of its last row. The first block has one batch.
  EXPECT_THAT(test::origins_of(*rows), ElementsAre("0/0/5"));
  splits.script = {{0, 0, split_range{4, 6}}};
  rows = first_block(make_shuffle(range(0, 10), 100, 1).value(), splits);
  ASSERT_TRUE(rows);
  for (size_t i = 0; i < rows->rows; ++i)
    EXPECT_EQ(origin_of(rows->origins, i).split,
              static_cast<uint64_t>(rows->columns[0].values<int64_t>()[i]));
}

TEST(Splits, OfAProgressionAreOneRun) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 1000}}};
  auto rows = first_block(range(0, 1000), splits);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->origins.size(), 1u);
  auto part = rows->slice(100, 50);
  EXPECT_EQ(origin_of(part.origins, 7).split, 107u);
}

TEST(SplitPlan, NamesSourcesSplitsAndPasses) {
  auto graph = make_repeat(make_concatenate(range(0, 5), range(0, 7)).value(), 3).value();
  auto plan = plan_splits(graph);
  ASSERT_EQ(plan.sources.size(), 2u);
  EXPECT_EQ(plan.sources[0].splits, 5u);
  EXPECT_EQ(plan.sources[1].splits, 7u);
  EXPECT_EQ(plan.sources[1].passes, 3);
  EXPECT_EQ(plan.groups, 2u);
  EXPECT_FALSE(plan.infinite);
  EXPECT_TRUE(plan_splits(make_repeat(range(0, 5)).value()).infinite);
}

TEST(SplitPlan, LeasesZippedSourcesTogetherOnlyIfTheyStayInStep) {
  auto aligned = make_zip({range(0, 5), make_enumerate(range(0, 5)).value()}).value();
  auto plan = plan_splits(aligned);
  EXPECT_EQ(plan.groups, 1u);
  auto apart = make_zip({range(0, 5), make_shuffle(range(0, 5), 2).value()}).value();
  EXPECT_EQ(plan_splits(apart).groups, 2u);
  auto outside = make_concatenate(aligned, aligned).value();
  plan = plan_splits(outside);
  EXPECT_EQ(plan.groups, 2u);
  EXPECT_EQ(plan.sources[0].group, plan.sources[1].group);
  EXPECT_NE(plan.sources[1].group, plan.sources[2].group);
}

} // namespace
} // namespace headrace::detail
