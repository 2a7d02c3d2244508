#include "headrace/pipeline/iterator/op_counters.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::read_numbers;
using testing::ElementsAre;

TEST(Range, GivesNumbersInBothDirections) {
  EXPECT_THAT(read_numbers(range(0, 5)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(read_numbers(range(5, 0, -2)), ElementsAre(5, 3, 1));
  EXPECT_THAT(read_numbers(range(3, 3)), ElementsAre());
  EXPECT_THAT(read_numbers(range(INT64_MAX - 2, INT64_MAX, 5)), ElementsAre(INT64_MAX - 2));
  EXPECT_EQ(range(INT64_MIN, INT64_MAX, INT64_MAX)->cardinality, 3);
  EXPECT_EQ(read_numbers(range(INT64_MIN, INT64_MAX, INT64_MAX)).size(), 3u);
}

TEST(Take, GivesAtMostSoMany) {
  EXPECT_THAT(read_numbers(make_take(range(0, 9), 3).value(), always(2)), ElementsAre(0, 1, 2));
  EXPECT_THAT(read_numbers(make_take(range(0, 2), 3).value()), ElementsAre(0, 1));
  EXPECT_THAT(read_numbers(make_take(range(0, 2), 0).value()), ElementsAre());
  EXPECT_THAT(read_numbers(make_take(range(0, 2), -1).value()), ElementsAre(0, 1));
}

TEST(Skip, LeavesOutSoMany) {
  EXPECT_THAT(read_numbers(make_skip(range(0, 5), 3).value(), always(1)), ElementsAre(3, 4));
  EXPECT_THAT(read_numbers(make_skip(range(0, 5), 9).value()), ElementsAre());
  EXPECT_THAT(read_numbers(make_skip(range(0, 5), -1).value()), ElementsAre());
}

TEST(Repeat, StartsOverSoOften) {
  EXPECT_THAT(read_numbers(make_repeat(range(0, 2), 3).value()), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(read_numbers(make_repeat(range(0, 2), 0).value()), ElementsAre());
}

TEST(Repeat, OfAnEmptyDatasetForEverEnds) {
  EXPECT_THAT(read_numbers(make_repeat(range(0, 0), -1).value()), ElementsAre());
  // This dataset is empty, but its source is not.
  auto empty = make_skip(make_shuffle(range(0, 3), 2).value(), 7).value();
  EXPECT_THAT(read_numbers(make_repeat(empty, -1).value()), ElementsAre());
}

TEST(Repeat, ForEverGoesOn) {
  auto x = make_take(make_repeat(range(0, 3), -1).value(), 7).value();
  EXPECT_EQ(x->cardinality, 7);
  EXPECT_THAT(read_numbers(x), ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

std::vector<uint64_t> sizes_of_blocks(const dataset_ptr& of, const limits& wanted) {
  iterator_context context;
  auto rows = make_iterator(of, context).value();
  std::vector<uint64_t> out;
  while (const auto some = rows->next(wanted)) out.push_back(some->rows);
  return out;
}

TEST(Repeat, JoinsPassesOfFewRowsToOneBlock) {
  EXPECT_THAT(sizes_of_blocks(make_repeat(range(0, 3), 5).value(), {.rows = 7}),
              ElementsAre(7, 7, 1));
  EXPECT_THAT(read_numbers(make_repeat(range(0, 3), 3).value(), always(7)),
              ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2));
  // Each block has at most the requested bytes, or one row.
  EXPECT_THAT(sizes_of_blocks(make_repeat(range(0, 1), 5).value(), {.rows = 7, .bytes = 16}),
              ElementsAre(2, 2, 1));
  EXPECT_THAT(sizes_of_blocks(make_repeat(range(0, 1), 3).value(), {.rows = 7, .bytes = 1}),
              ElementsAre(1, 1, 1));
  // Repeat does not join passes of many rows, because that would copy them, nor passes over an
  // operator, because it would hold rows back while it waits for further rows.
  EXPECT_THAT(sizes_of_blocks(make_repeat(range(0, 4), 2).value(), {.rows = 7}), ElementsAre(4, 4));
  EXPECT_THAT(
    sizes_of_blocks(make_repeat(make_skip(range(0, 3), 1).value(), 2).value(), {.rows = 7}),
    ElementsAre(2, 2));
}

TEST(Enumerate, NumbersRows) {
  EXPECT_THAT(read_all(make_enumerate(range(5, 8), 10).value(), always(2)),
              ElementsAre("10|5", "11|6", "12|7"));
}

TEST(Zip, EndsWithTheShortest) {
  auto three = make_batch(range(0, 6), 2).value();
  EXPECT_THAT(read_all(make_zip({range(0, 9), three}).value(), always(2)),
              ElementsAre("0|[2]{0 1}", "1|[2]{2 3}", "2|[2]{4 5}"));
}

TEST(Concatenate, GivesOneAfterTheOther) {
  EXPECT_THAT(read_numbers(make_concatenate(range(0, 2), range(7, 9)).value()),
              ElementsAre(0, 1, 7, 8));
}

TEST(Batch, KeepsTheRemainderUnlessToldToDropIt) {
  EXPECT_THAT(read_all(make_batch(range(0, 5), 2).value()),
              ElementsAre("[2]{0 1}", "[2]{2 3}", "[1]{4}"));
  EXPECT_THAT(read_all(make_batch(range(0, 5), 2, true).value()),
              ElementsAre("[2]{0 1}", "[2]{2 3}"));
  EXPECT_THAT(read_all(make_batch(range(0, 1), 2, true).value()), ElementsAre());
}

TEST(Batch, OfBatchesAddsAnAxis) {
  auto x = make_batch(make_batch(range(0, 8), 2).value(), 2).value();
  EXPECT_THAT(read_all(x, always(1)), ElementsAre("[2, 2]{0 1 2 3}", "[2, 2]{4 5 6 7}"));
}

TEST(Batch, RefusesRowsOfDifferentShapesNamingBoth) {
  // Batches of 2, 2 and 1 rows, batched again.
  auto x = make_batch(make_batch(range(0, 5), 2).value(), 3).value();
  EXPECT_THAT(read_all(x),
              ElementsAre("!invalid_argument: batch: component 0 has rows of shapes [2] and [1] in "
                          "one batch; all rows of a batch must have one shape"));
}

TEST(Batch, OfDenseRowsInOneBlockCopiesNothing) {
  op_counters counters;
  iterator_context context;
  auto graph = make_batch(range(0, 1000), 10).value();
  context.counters = [&](const dataset_node& node) {
    return node.op == dataset_op::batch ? &counters : nullptr;
  };
  auto from = make_iterator(graph, context).value();
  EXPECT_EQ(read_all(*from, always(64)).size(), 100u);
  EXPECT_EQ(counters.kernel_calls, 0u);
  EXPECT_EQ(counters.rows, 100u);
}

TEST(Shuffle, GivesEachRowOnceInAnotherOrder) {
  auto x = make_shuffle(range(0, 1000), 100, 7).value();
  auto numbers = read_numbers(x);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_LT(numbers[i], static_cast<int64_t>(i) + 100) << "beyond the buffer";
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, read_numbers(range(0, 1000)));
}

TEST(Shuffle, HasTheSameOrderWhateverBlocksAreAskedFor) {
  auto x = make_shuffle(range(0, 500), 37, 7).value();
  const auto one = read_numbers(x, always(1));
  EXPECT_EQ(one, read_numbers(x, always(1000)));
  EXPECT_EQ(one, read_numbers(x, always(13)));
}

TEST(Shuffle, ReshufflesInEachPassUnlessToldNotTo) {
  const auto passes = [](bool reshuffle) {
    auto x = make_repeat(make_shuffle(range(0, 50), 50, 7, reshuffle).value(), 2).value();
    auto all = read_numbers(x);
    return std::pair{std::vector(all.begin(), all.begin() + 50),
                     std::vector(all.begin() + 50, all.end())};
  };
  auto [a, b] = passes(true);
  EXPECT_NE(a, b);
  auto [c, d] = passes(false);
  EXPECT_EQ(c, d);
}

TEST(Shuffle, FollowsTheRunsSeedWhereItHasNone) {
  auto x = make_shuffle(range(0, 50), 50).value();
  const auto order = [&](uint64_t seed) {
    iterator_context context;
    context.seed = seed;
    return read_all(*make_iterator(x, context).value());
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Shuffle, MovesStringsAndRaggedRowsToo) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i)
    names.push_back(std::string(static_cast<size_t>(i % 7), 'x') + std::to_string(i));
  auto lines = make_from_tensor_slices({string_constant(names)}).value();
  auto x = make_shuffle(lines, 20, 3).value();
  const auto one = read_all(x, always(1));
  EXPECT_EQ(one, read_all(x, always(50)));
  EXPECT_EQ(std::set<std::string>(one.begin(), one.end()).size(), 300u);
  auto ragged = make_shuffle(make_batch(range(0, 9), 2).value(), 3, 5).value();
  auto rows = read_all(ragged, always(4));
  EXPECT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows, read_all(ragged, always(1)));
}

TEST(Prefetch, ChangesNothingButTheThread) {
  for (int64_t n : {-1, 0, 1, 2, 100})
    EXPECT_EQ(read_numbers(make_prefetch(range(0, 1000), n).value(), always(7)),
              read_numbers(range(0, 1000)));
}

TEST(Prefetch, CanBeLeftInTheMiddle) {
  iterator_context context;
  auto from =
    make_iterator(make_prefetch(make_repeat(range(0, 10)).value(), 5).value(), context).value();
  EXPECT_EQ(read_all(*from, always(3), 100).size(), 100u);
}

TEST(FromTensors, IsOneElement) {
  const auto five = scalar_constant(5);
  EXPECT_THAT(read_all(make_from_tensors({five}).value()), ElementsAre("5"));
}

TEST(FromTensorSlices, GivesRowsSideBySideWithoutCopies) {
  std::vector<std::string> names{"a", "bc", ""};
  std::vector<int64_t> numbers{1, 2, 3};
  auto both = make_from_tensor_slices({string_constant(names), constant(numbers).node()},
                                      structure::named({"name", "number"}, {{}, {}}))
                .value();
  EXPECT_EQ(to_string(both->spec), "{name: string[], number: int64[]}");
  EXPECT_THAT(read_all(both, always(2)), ElementsAre("'a'|1", "'bc'|2", "''|3"));
}

TEST(AnyIterator, StopsWhenAsked) {
  std::stop_source stop;
  iterator_context context;
  context.stop = stop.get_token();
  auto from = make_iterator(make_repeat(range(0, 10)).value(), context).value();
  EXPECT_TRUE(from->next({3, 1000}));
  stop.request_stop();
  EXPECT_THAT(read_all(*from), ElementsAre("!cancelled: the iteration was stopped"));
}

TEST(AnyIterator, StaysEnded) {
  iterator_context context;
  auto from = make_iterator(range(0, 1), context).value();
  EXPECT_TRUE(from->next({3, 1000}));
  EXPECT_FALSE(from->next({3, 1000}));
  EXPECT_FALSE(from->next({3, 1000}));
}

} // namespace
} // namespace headrace::detail
