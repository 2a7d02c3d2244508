#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read;
using test::read_all;
using test::read_numbers;
using test::traced;
using test::why;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// 840 / (x % 5) for each number x from `start` to `stop` - 1. Every fifth row is an error row.
dataset_ptr some_fail(int64_t start, int64_t stop) {
  auto in = range(start, stop);
  return make_map(in, traced(in, [](expr x) { return 840 / (x % 5); })).value();
}

TEST(TakeWhile, EndsBeforeTheFirstElementThatDoesNotFit) {
  auto in = range(0, 100);
  auto x = make_take_while(in, traced(in, [](expr x) { return x % 20 < 5; })).value();
  EXPECT_THAT(read(x), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(read(make_take_while(in, traced(in, [](expr x) { return x < 0; })).value()),
              ElementsAre());
  EXPECT_EQ(
    read_numbers(make_take_while(in, traced(in, [](expr x) { return x < 500; })).value()).size(),
    100u);
}

TEST(TakeWhile, GoesOnAfterAnElementThatFailed) {
  auto in = some_fail(5, 8);
  auto x = make_take_while(in, traced(in, [](expr x) { return x > 500; })).value();
  EXPECT_THAT(read(x), ElementsAre(HasSubstr("division by zero"), "840"));
}

TEST(TakeWhile, RefusesAFunctionThatGivesNoBool) {
  auto in = range(0, 3);
  EXPECT_EQ(why(make_take_while(in, traced(in, [](expr x) { return x; }))),
            "take_while: the function gives int64[]; it must give one bool scalar");
}

TEST(Shard, GivesOneOfSoMany) {
  EXPECT_THAT(read(make_shard(range(0, 10), 3, 1).value()), ElementsAre("1", "4", "7"));
  EXPECT_EQ(make_shard(range(0, 10), 3, 0).value()->cardinality, 4);
  EXPECT_EQ(make_shard(range(0, 10), 3, 1).value()->cardinality, 3);
  EXPECT_THAT(read(make_shard(range(0, 2), 5, 4).value()), ElementsAre());
  EXPECT_THAT(read(make_shard(range(0, 3), INT64_MAX, 2).value()), ElementsAre("2"));
}

TEST(Shard, GivesRunsOfElementsThatStayTogether) {
  EXPECT_THAT(read(make_shard(range(0, 14), 3, 1, 2).value()), ElementsAre("2", "3", "8", "9"));
  EXPECT_THAT(read(make_shard(range(0, 11), 3, 2, 2).value()), ElementsAre("4", "5", "10"));
  // Each shard gives the same elements in blocks of any size, and all shards together give all
  // elements.
  for (int64_t n : {0, 1, 7, 30, 61})
    for (int64_t run : {1, 2, 3, 10})
      for (int64_t shards : {1, 2, 4}) {
        std::vector<std::vector<std::string>> all;
        int64_t cardinality = 0;
        for (int64_t i = 0; i < shards; ++i) {
          const auto one = make_shard(range(0, n), shards, i, run).value();
          all.push_back(read(one));
          for (size_t rows : {1, 2, 5})
            EXPECT_EQ(test::read_all(one, test::always(rows)), all.back()) << n << " " << run;
          cardinality += one->cardinality;
          EXPECT_EQ(one->cardinality, static_cast<int64_t>(all.back().size()));
        }
        EXPECT_EQ(cardinality, n);
        for (int64_t x = 0; x < n; ++x)
          EXPECT_THAT(all[static_cast<size_t>(x / run % shards)], Contains(std::to_string(x)));
      }
}

TEST(Shard, GivesAFailureOnceAndOneThatTheInputEndsWithInEveryShard) {
  const auto amid = some_fail(4, 8), last = some_fail(1, 6);
  const auto failed = HasSubstr("division by zero");
  EXPECT_THAT(read(make_shard(amid, 2, 0).value()), ElementsAre("210", "840"));
  EXPECT_THAT(read(make_shard(amid, 2, 1).value()), ElementsAre(failed, "420"));
  EXPECT_THAT(read(make_shard(last, 2, 0).value()), ElementsAre("840", "280", failed));
  EXPECT_THAT(read(make_shard(last, 2, 1).value()), ElementsAre("420", "210", failed));
}

TEST(Shard, RefusesAnIndexThatNoShardHas) {
  EXPECT_EQ(why(make_shard(range(0, 3), 2, 2)),
            "shard: index is 2; it must be 0 or more and less than num_shards, 2");
  EXPECT_EQ(why(make_shard(range(0, 3), 0, 0)), "shard: num_shards is 0; it must be at least 1");
}

TEST(Unique, GivesTheFirstOfEqualElements) {
  auto in = range(0, 30);
  auto x = make_map(in, traced(in, [](expr x) { return x * x % 7; })).value();
  EXPECT_THAT(read(make_unique_elements(x).value()), ElementsAre("0", "1", "4", "2"));
}

TEST(Unique, TellsStringsAndShapesApart) {
  auto words = make_from_tensor_slices(
                 {string_constant(std::vector<std::string>{"a", "", "ab", "a", "b", ""})})
                 .value();
  EXPECT_EQ(read(make_unique_elements(words).value()).size(), 4u);
  // Batches with equal bytes and different shapes are different elements.
  auto pairs = make_batch(make_batch(range(0, 4), 2).value(), 1).value();
  auto one = make_batch(make_batch(range(0, 2), 1).value(), 2).value();
  EXPECT_THAT(read(make_unique_elements(make_concatenate(pairs, one).value()).value()),
              ElementsAre("[1, 2]{0 1}", "[1, 2]{2 3}", "[2, 1]{0 1}"));
}

TEST(Unique, TellsRanksApart) {
  const auto written = [](const expr& x) { return io::serialize_tensor(x); };
  const auto scalar = range(0, 1);
  const auto empty = make_batch(make_skip(range(0, 1), 0).value(), 1).value();
  const auto vectors =
    make_map(empty, traced(empty, [&](const expr& x) { return written(x.slice(0, 0)); })).value();
  const auto both =
    make_concatenate(make_map(scalar, traced(scalar, written)).value(), vectors).value();
  const auto parsed =
    make_map(both, traced(both, [](const expr& x) { return io::parse_tensor(x, dtype::int64); }))
      .value();
  EXPECT_EQ(read(make_unique_elements(parsed).value()).size(), 2u);
}

TEST(IgnoreErrors, LeavesOutWhatFailed) {
  EXPECT_THAT(read(make_ignore_errors(some_fail(4, 12)).value()),
              ElementsAre("210", "840", "420", "280", "210", "840"));
}

TEST(IgnoreErrors, IsCountedByWhatWentInAndCameOut) {
  op_counters in, out;
  iterator_context context;
  context.counters = [&](const dataset_node& node) {
    return node.op == dataset_op::ignore_errors ? &out : node.op == dataset_op::map ? &in : nullptr;
  };
  read_all(*make_iterator(make_ignore_errors(some_fail(0, 100)).value(), context).value());
  EXPECT_EQ(in.rows - out.rows, 20u);
}

TEST(IgnoreErrors, NeverHidesThatTheIterationWasStopped) {
  std::stop_source stop;
  iterator_context context;
  context.stop = stop.get_token();
  auto from = make_iterator(make_ignore_errors(range(0, 10)).value(), context).value();
  stop.request_stop();
  EXPECT_THAT(read_all(*from), ElementsAre(HasSubstr("!cancelled")));
}

TEST(AssertCardinality, PassesWhatIsAsAnnounced) {
  auto in = make_filter(range(0, 10), traced(range(0, 10), [](expr x) { return x % 2 == 0; }));
  auto x = make_assert_cardinality(in.value(), 5).value();
  EXPECT_EQ(x->cardinality, 5);
  EXPECT_THAT(read(x), ElementsAre("0", "2", "4", "6", "8"));
}

TEST(AssertCardinality, FailsAtTheEndOrAtTheElementTooMany) {
  auto in =
    make_filter(range(0, 4), traced(range(0, 4), [](expr x) { return x % 2 == 0; })).value();
  EXPECT_THAT(read(make_assert_cardinality(in, 3).value()),
              ElementsAre("0", "2",
                          "!failed_precondition: assert_cardinality: the dataset has 2 elements; 3 "
                          "were announced"));
  EXPECT_THAT(read(make_assert_cardinality(in, 1).value()),
              ElementsAre("0", "!failed_precondition: assert_cardinality: the dataset has more "
                               "than the 1 elements that were announced"));
  EXPECT_THAT(read(make_assert_cardinality(in, -1).value()),
              ElementsAre("0", "2", HasSubstr("infinitely many were announced")));
  EXPECT_EQ(why(make_assert_cardinality(range(0, 4), 5)),
            "assert_cardinality: expected_cardinality is 5; the dataset's is 4");
}

TEST(ChooseFrom, FollowsTheChoices) {
  auto choices = make_map(range(0, 6), traced(range(0, 6), [](expr x) { return x % 2; })).value();
  EXPECT_THAT(read(make_choose_from(choices, {range(0, 9), range(100, 109)}).value()),
              ElementsAre("0", "100", "1", "101", "2", "102"));
}

TEST(ChooseFrom, EndsWithADatasetThatEndedOrPassesItBy) {
  auto choices = make_map(range(0, 8), traced(range(0, 8), [](expr x) { return x % 2; })).value();
  const std::vector<dataset_ptr> inputs{range(0, 1), range(100, 109)};
  EXPECT_THAT(read(make_choose_from(choices, inputs, true).value()), ElementsAre("0", "100"));
  EXPECT_THAT(read(make_choose_from(choices, inputs, false).value()),
              ElementsAre("0", "100", "101", "102", "103"));
  auto endless = make_repeat(choices).value();
  EXPECT_EQ(read(make_choose_from(endless, inputs, false).value()).size(), 10u);
}

TEST(ChooseFrom, FailsForAChoiceThatNamesNoDataset) {
  EXPECT_THAT(read(make_choose_from(range(1, 3), {range(0, 9), range(10, 19)}).value()),
              ElementsAre("10", "!invalid_argument: choose_from_datasets: the choice is 2; it must "
                                "be 0 or more and less than 2, the number of datasets"));
  EXPECT_EQ(why(make_choose_from(make_batch(range(0, 2), 2).value(), {range(0, 2)})),
            "choose_from_datasets: the choices are int64[?]; they must be int64 scalars");
  EXPECT_EQ(why(make_choose_from(range(0, 2), {range(0, 2), make_enumerate(range(0, 2)).value()})),
            "choose_from_datasets: dataset 1 gives (int64[], int64[]); it must give int64[] as the "
            "first does");
}

TEST(SampleFrom, GivesEachElementInItsDatasetsOrder) {
  auto x = make_sample_from({range(0, 50), range(100, 150)}, {}, 7).value();
  EXPECT_EQ(x->cardinality, 100);
  const auto rows = read(x);
  std::vector<std::string> first;
  for (const auto& row : rows)
    if (row.size() < 3)
      first.push_back(row);
  EXPECT_EQ(rows.size(), 100u);
  EXPECT_EQ(first, read_all(range(0, 50)));
  EXPECT_NE(std::vector(rows.begin(), rows.begin() + 50), first);
}

TEST(SampleFrom, DrawsByWeight) {
  auto x =
    make_take(make_sample_from({make_repeat(range(0, 1)).value(), make_repeat(range(1, 2)).value(),
                                make_repeat(range(2, 3)).value()},
                               {1, 3, 0}, 7)
                .value(),
              10000)
      .value();
  const auto rows = read_numbers(x);
  const auto ones = std::count(rows.begin(), rows.end(), 1);
  EXPECT_GT(ones, 7300);
  EXPECT_LT(ones, 7700);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 2), 0);
}

TEST(SampleFrom, StopsOnEmptyIfToldTo) {
  const auto rows = read(make_sample_from({range(0, 3), range(100, 200)}, {}, 7, true).value());
  EXPECT_LT(rows.size(), 50u);
  EXPECT_THAT(rows, testing::Contains("2"));
}

TEST(SampleFrom, DrawsAnewInEachPassIfToldTo) {
  const auto passes = [](bool anew) {
    auto x = make_sample_from({range(0, 20), range(100, 120)}, {}, 7, false, anew).value();
    auto all = read_numbers(make_repeat(x, 2).value());
    return std::pair{std::vector(all.begin(), all.begin() + 40),
                     std::vector(all.begin() + 40, all.end())};
  };
  const auto same = passes(false), other = passes(true);
  EXPECT_EQ(same.first, same.second);
  EXPECT_NE(other.first, other.second);
}

TEST(SampleFrom, RefusesWeightsThatMakeNoSense) {
  EXPECT_EQ(why(make_sample_from({range(0, 2)}, {1, 2})),
            "sample_from_datasets: there are 2 weights for 1 datasets; give one for each");
  EXPECT_EQ(why(make_sample_from({range(0, 2)}, {-1})),
            "sample_from_datasets: a weight is -1; weights must be 0 or more");
  EXPECT_EQ(why(make_sample_from({range(0, 2)}, {0})),
            "sample_from_datasets: one of the weights must be more than 0, and their sum finite");
  EXPECT_EQ(why(make_sample_from({})),
            "sample_from_datasets: there are no datasets; give at least one");
}

} // namespace
} // namespace headrace::detail
