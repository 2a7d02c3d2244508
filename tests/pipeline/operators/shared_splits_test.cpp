#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The behaviour of sources, and of operators over them, when a task is given only some of the
// splits.

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::scripted_splits;
using test::traced;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr pass_over others_read{.alone = false};

class SharedSplits : public testing::Test {
protected:
  SharedSplits() { context.splits = &splits; }
  std::vector<std::string> read(const dataset_ptr& graph, size_t rows = 1000) {
    return read_all(*make_iterator(graph, context).value(), always(rows));
  }
  scripted_splits splits;
  iterator_context context;
};

TEST_F(SharedSplits, AnEndlessRepeatGoesOnAfterAPassThatOthersRead) {
  splits.ends = others_read;
  splits.script = {{0, 3, split_range{1, 2}}};
  EXPECT_THAT(read(make_take(make_repeat(range(0, 5)).value(), 2).value()), ElementsAre("1", "2"));
}

TEST_F(SharedSplits, AnEndlessRepeatEndsWithAPassThatNobodyHadAnythingOf) {
  splits.script = {{0, 0, split_range{1, 2}}};
  EXPECT_THAT(read(make_repeat(range(0, 5)).value()), ElementsAre("1", "2"));
}

TEST_F(SharedSplits, AnEndlessRepeatOfWhatIsFilteredOutEndsOnlyIfItReadAllAlone) {
  const auto in = range(0, 5);
  const auto none = make_filter(in, traced(in, [](expr x) { return x > 10; })).value();
  splits.script = {{0, 0, split_range{0, 5}}, {0, 0, others_read}, {0, 1, split_range{0, 5}}};
  EXPECT_THAT(read(make_repeat(none).value()), IsEmpty());
  EXPECT_EQ(splits.log.back().pass, 1u) << "of pass 0 others had a part, of pass 1 nobody";
}

TEST_F(SharedSplits, ALateRunGoesOnWithThePassThatRunsAndCountsItAsItsOwn) {
  splits.script = {{0, 0, pass_over{.running = 7}}, {0, 7, split_range{0, 1}}};
  EXPECT_THAT(read(make_repeat(range(0, 3), 9).value()), ElementsAre("0"));
  using asked = scripted_splits::asked;
  EXPECT_THAT(splits.log,
              ElementsAre(asked{0, 0, 3}, asked{0, 7, 3}, asked{0, 7, 3}, asked{0, 8, 3}));
}

TEST_F(SharedSplits, SourcesThatAdvanceTogetherGoOnWithOnePass) {
  splits.script = {{0, 0, pass_over{.running = 7}},
                   {0, 7, pass_over{}},
                   {0, 8, split_range{0, 2}},
                   {1, 8, split_range{0, 2}}};
  const auto both = make_zip({range(0, 3), range(10, 13)}).value();
  EXPECT_THAT(read(make_repeat(both, 9).value()), ElementsAre("0|10", "1|11"));
}

TEST_F(SharedSplits, AnOrderThatIsDrawnForEachPassIsThatOfThePassNotOfTheRun) {
  const auto graph = make_repeat(make_global_shuffle(range(0, 50), 1, true).value(), 5).value();
  splits.script = {{0, 3, split_range{0, 50}}};
  const auto from_the_beginning = read(graph);
  splits.script = {{0, 0, pass_over{.running = 3}}, {0, 3, split_range{0, 50}}};
  EXPECT_EQ(read(graph), from_the_beginning);
  splits.script = {{0, 2, split_range{0, 50}}};
  EXPECT_NE(read(graph), from_the_beginning);
}

TEST_F(SharedSplits, ATakeGivesBackWhatItDoesNotRead) {
  splits.script = {{0, 0, split_range{2, 8}}};
  const auto graph = make_take(range(0, 10), 3).value();
  EXPECT_THAT(read(make_concatenate(graph, range(0, 0)).value()), ElementsAre("2", "3", "4"));
  using closing = scripted_splits::closing;
  EXPECT_THAT(splits.closed, ElementsAre(closing{0, 0, {5, 5}}));
}

TEST_F(SharedSplits, AZipGivesBackWhatItsOtherSideHasLeftBeforeWhatComesAfterIt) {
  splits.script = {{0, 0, split_range{0, 8}}, {1, 0, split_range{0, 2}}, {2, 0, split_range{0, 1}}};
  const auto shuffled = make_shuffle(range(0, 10), 5).value();
  const auto pairs =
    make_map(make_zip({range(0, 10), shuffled}).value(),
             traced(make_zip({range(0, 10), shuffled}).value(), [](expr x, expr) { return x; }))
      .value();
  auto it = make_iterator(make_concatenate(pairs, range(100, 110)).value(), context).value();
  std::vector<std::string> got;
  while (auto rows = it->next({.rows = 1})) got.push_back(test::row_text(*rows, 0));
  EXPECT_THAT(got, ElementsAre("0", "1", "100"));
  using closing = scripted_splits::closing;
  EXPECT_THAT(splits.closed, ElementsAre(closing{0, 0, {3, 5}}));
}

TEST_F(SharedSplits, WhatIsReadToItsEndIsNotClosed) {
  splits.script = {{0, 0, split_range{2, 8}}};
  read(make_map(range(0, 10), traced(range(0, 10), [](expr x) { return x + 1; })).value());
  EXPECT_THAT(splits.closed, IsEmpty());
}

TEST_F(SharedSplits, ASourceThatFailsGivesBackWhatItHasNotBegun) {
  splits.script = {{0, 0, split_range{0, 5}}};
  const auto files =
    make_text_lines(string_constant(std::vector<std::string>(5, "/no/such"))).value();
  EXPECT_EQ(read(files).size(), 1u);
  using closing = scripted_splits::closing;
  EXPECT_THAT(splits.closed, ElementsAre(closing{0, 0, {1, 4}}));
}

TEST_F(SharedSplits, ChoicesAreWholeAndHaveNoNumber) {
  const auto in = range(0, 4);
  const auto choices = make_map(in, traced(in, [](expr x) { return x % 2; })).value();
  const auto graph = make_choose_from(choices, {range(0, 10), range(10, 20)}, false).value();
  splits.script = {{0, 0, split_range{4, 3}}, {1, 0, split_range{6, 1}}};
  EXPECT_THAT(read(graph), ElementsAre("4", "16", "5"));
  const auto plan = plan_splits(graph);
  ASSERT_EQ(plan.sources.size(), 2u);
  EXPECT_EQ(count_sources(*graph), 2u);
  for (const auto& x : splits.log) EXPECT_LT(x.source, 2u);
}

TEST_F(SharedSplits, EndlessChoicesAreNotThoseOfOthers) {
  const auto choices = make_repeat(range(0, 2)).value();
  const auto graph = make_choose_from(choices, {range(0, 10), range(10, 20)}, true).value();
  splits.ends = others_read;
  splits.script = {{0, 0, split_range{0, 2}}, {1, 0, split_range{0, 2}}};
  EXPECT_THAT(read(graph), ElementsAre("0", "10", "1", "11"));
}

TEST_F(SharedSplits, ACacheInMemoryIsTheRunsOwn) {
  const auto graph = make_repeat(make_cache(range(0, 10)).value(), 2).value();
  run_caches first, second;
  context.caches = &first;
  splits.script = {{0, 0, split_range{3, 2}}};
  EXPECT_THAT(read(graph), ElementsAre("3", "4", "3", "4"));
  context.caches = &second;
  splits.script = {{0, 0, split_range{0, 1}}};
  EXPECT_THAT(read(graph), ElementsAre("0", "0")) << "what another run had kept was given";
}

TEST(SplitPlan, NamesSourcesWhosePassesAreReadFromMemory) {
  const auto kept = make_cache(range(0, 5)).value();
  EXPECT_FALSE(plan_splits(kept).sources[0].kept);
  EXPECT_TRUE(plan_splits(make_repeat(kept, 2).value()).sources[0].kept);
  EXPECT_FALSE(plan_splits(make_repeat(range(0, 5), 2).value()).sources[0].kept);
}

TEST_F(SharedSplits, ASourceOverFilesSaysWhatItFound) {
  struct noting final : split_provider {
    std::vector<std::shared_ptr<const split_listing>> seen;
    result<split_answer> next(uint32_t, uint64_t, std::optional<uint64_t>,
                              const std::shared_ptr<const split_listing>& listing) override {
      seen.push_back(listing);
      return split_answer{pass_over{.alone = true}};
    }
  } provider;
  context.splits = &provider;
  test::scratch_folder folder;
  const auto path = folder.write("a", std::string(16, 'x'));
  folder.write("b", "");
  const auto patterns = string_constant(std::vector<std::string>{folder.path() + "/*"});
  const auto records =
    make_fixed_length(string_constant(std::vector<std::string>{path}), {8, 0, 0}).value();
  read(make_list_files(patterns, true).value());
  read(records);
  read(make_global_shuffle(records, 1, true).value());
  folder.write("a", std::string(24, 'x'));
  read(records);
  read(range(0, 5));
  ASSERT_EQ(provider.seen.size(), 5u);
  EXPECT_THAT(provider.seen[0]->entries, ElementsAre(path, folder.path() + "/b"));
  EXPECT_THAT(provider.seen[1]->entries, ElementsAre("'" + path + "' with 2 records"));
  EXPECT_EQ(*provider.seen[1], *provider.seen[2]);
  EXPECT_NE(provider.seen[1]->digest, provider.seen[3]->digest) << "the file grew";
  EXPECT_EQ(provider.seen[4], nullptr);
}

// -- a service in mid-graph --------------------------------------------------------------

/// A repetition that is read from a service: it gives this task three elements if `gives`, and else
/// none, because other tasks read all of its elements.
class some_repetitions final : public element_source {
public:
  explicit some_repetitions(bool gives) : left_(gives) {}
  std::optional<block> next(const limits& wanted) override {
    if (!std::exchange(left_, false))
      return {};
    iterator_context local;
    return make_iterator(range(0, 3), local).value()->next(wanted);
  }

private:
  bool left_;
};

std::vector<std::string> read_service(const std::string& job_name, size_t most) {
  service_options service{
    .address = "host:1", .processing_mode = sharding_policy::off, .job_name = job_name};
  const auto graph = make_take(make_repeat(make_distribute(range(0, 3), service).value()).value(),
                               static_cast<int64_t>(most));
  uint64_t repetition = 0;
  iterator_context context;
  context.distribute = [&](const dataset_node&) -> result<std::unique_ptr<element_source>> {
    return std::unique_ptr<element_source>{
      std::make_unique<some_repetitions>(repetition++ % 3 == 2)};
  };
  return read_all(*make_iterator(graph.value(), context).value());
}

TEST(RepeatOverAService, GoesOnWhereOthersReadAWholeRepetitionOfANamedJob) {
  EXPECT_THAT(read_service("shared", 6), ElementsAre("0", "1", "2", "0", "1", "2"));
}

/// A repetition that gives this task no elements, because other tasks read them or there are none.
class ever_empty final : public element_source {
public:
  explicit ever_empty(bool others_read) : others_read_(others_read) {}
  std::optional<block> next(const limits&) override { return {}; }
  bool was_empty() override { return !others_read_; }

private:
  bool others_read_;
};

TEST(RepeatOverAService, EndsWithARepetitionThatGaveNothingToAnybody) {
  service_options service{.address = "host:1", .job_name = "shared"};
  const auto graph = make_repeat(make_distribute(range(0, 3), service).value());
  uint64_t repetitions = 0;
  iterator_context context;
  context.distribute = [&](const dataset_node&) -> result<std::unique_ptr<element_source>> {
    return std::unique_ptr<element_source>{std::make_unique<ever_empty>(++repetitions < 5)};
  };
  EXPECT_THAT(read_all(*make_iterator(graph.value(), context).value()), IsEmpty());
  EXPECT_EQ(repetitions, 5u);
}

TEST(RepeatOverAService, EndsWithAnEmptyRepetitionThatWasItsOwn) {
  EXPECT_THAT(read_service("", 6), IsEmpty());
}

} // namespace
} // namespace headrace::detail
