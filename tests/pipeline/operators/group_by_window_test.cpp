#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/operators/groups/open_groups.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
function_ptr reducing(const dataset_ptr& input, F f) {
  return std::make_shared<const function>(trace(grouped_spec(input->spec), f));
}
function_ptr batching(const dataset_ptr& input) {
  return reducing(input, [](expr, dataset_ptr rows) { return make_batch(rows, 100).value(); });
}
template <class F>
function_ptr of_key(F f) {
  return std::make_shared<const function>(trace(tensor_spec{dtype::int64, {}}, f));
}

function_ptr modulo(const dataset_ptr& in, int64_t n) {
  return traced(in, [n](expr x) { return x % n; });
}

TEST(GroupByWindow, GivesWholeGroupsAsTheyFillAndTheRestByKey) {
  auto in = range(0, 10);
  auto x = make_group_by_window(in, modulo(in, 3), batching(in), 2).value();
  EXPECT_THAT(read(x),
              ElementsAre("[2]{0 3}", "[2]{1 4}", "[2]{2 5}", "[2]{6 9}", "[1]{7}", "[1]{8}"));
  EXPECT_THAT(read(make_group_by_window(range(0, 0), modulo(in, 3), batching(in), 2).value()),
              ElementsAre());
  EXPECT_THAT(read(make_group_by_window(in, modulo(in, 3), batching(in), 1).value()).size(), 10);
}

TEST(GroupByWindow, GivesAllElementsOfTheReducedDataset) {
  auto in = range(0, 6);
  auto twice = reducing(in, [](expr key, dataset_ptr rows) {
    auto with_key = traced(rows, [key](expr x) { return std::pair{key, x}; });
    return make_repeat(make_map(rows, with_key).value(), 2).value();
  });
  EXPECT_THAT(read(make_group_by_window(in, modulo(in, 2), twice, 3).value()),
              ElementsAre("0|0", "0|2", "0|4", "0|0", "0|2", "0|4", "1|1", "1|3", "1|5", "1|1",
                          "1|3", "1|5"));
}

TEST(GroupByWindow, AsksForTheSizeOfEachKey) {
  auto in = range(0, 10);
  auto sizes = of_key([](expr key) { return key + 1; });
  auto x = make_group_by_window(in, modulo(in, 3), batching(in), sizes).value();
  EXPECT_THAT(read(x), ElementsAre("[1]{0}", "[1]{3}", "[2]{1 4}", "[1]{6}", "[3]{2 5 8}", "[1]{9}",
                                   "[1]{7}"));
}

TEST(GroupByWindow, GroupsStructures) {
  auto in = make_enumerate(range(20, 26)).value();
  auto key = traced(in, [](expr i, expr) { return cast<int32_t>(i % 2); });
  EXPECT_THAT(
    read(make_group_by_window(in, key, batching(in), 2).value()),
    ElementsAre("[2]{0 2}|[2]{20 22}", "[2]{1 3}|[2]{21 23}", "[1]{4}|[1]{24}", "[1]{5}|[1]{25}"));
}

TEST(GroupByWindow, GivesElementsThatFailedWhereTheyStood) {
  auto in = range(0, 6);
  auto failing = make_map(in, traced(in, [](expr x) { return x + 0 / (x - 2); })).value();
  EXPECT_THAT(read(make_group_by_window(failing, modulo(failing, 2), batching(failing), 2).value()),
              ElementsAre(HasSubstr("division by zero"), "[2]{1 3}", "[2]{0 4}", "[1]{5}"));
  auto key = traced(in, [](expr x) { return 6 / (x % 3); });
  EXPECT_THAT(read(make_group_by_window(in, key, batching(in), 2).value()),
              ElementsAre(HasSubstr("division by zero"), HasSubstr("division by zero"), "[2]{1 4}",
                          "[2]{2 5}"));
  auto sizes = of_key([](expr key) { return key; });
  EXPECT_THAT(read(make_group_by_window(in, modulo(in, 2), batching(in), sizes).value()),
              ElementsAre("!invalid_argument: group_by_window: the window size of key 0 is 0; it "
                          "must be at least 1",
                          "[1]{1}", HasSubstr("key 0 is 0"), "[1]{3}", HasSubstr("key 0 is 0"),
                          "[1]{5}"));
}

TEST(GroupByWindow, ReadsNoMoreThanAGroupNeeds) {
  auto in = range(0, 100);
  auto x = make_group_by_window(in, modulo(in, 2), batching(in), 3).value();
  uint64_t read = 0;
  op_counters counters;
  iterator_context context;
  context.counters = [&](const dataset_node& node) {
    return node.op == dataset_op::range ? &counters : nullptr;
  };
  auto from = make_iterator(x, context).value();
  ASSERT_TRUE(from->next({.rows = 1}));
  read = counters.rows;
  EXPECT_EQ(read, 5u);
}

TEST(GroupByWindow, SavesCountsOnlyWhateverItHolds) {
  auto in = range(0, 100'000);
  auto x = make_group_by_window(in, modulo(in, 1000), batching(in), 90).value();
  iterator_context context;
  auto at = make_iterator(x, context).value();
  ASSERT_EQ(read_all(*at, always(1), 1).size(), 1u);
  const auto saved = at->save();
  const auto& groups = *saved->parts[0];
  EXPECT_LT(groups.numbers.size(), 2100u);
  auto again = make_iterator(x, context).value();
  ASSERT_EQ(again->restore(*saved), status{});
  EXPECT_EQ(read_all(*again), read_all(*at));
}

TEST(GroupByWindow, SavesWhatChangedHoweverManyGroupsAreOpen) {
  constexpr int64_t keys = 20000;
  auto in = range(0, 5 * keys);
  auto x = make_group_by_window(in, modulo(in, keys), batching(in), 2).value();
  iterator_context context;
  auto at = make_iterator(x, context).value();
  // The first group is complete after each key has had an element, so nearly all groups are open
  // then. From then on each element that is read completes one group.
  ASSERT_EQ(read_all(*at, always(1), 1).size(), 1u);
  std::set<const position*> seen;
  std::vector<position_ptr> kept; // keeps the positions, so that their addresses differ
  size_t fresh = 0, saves = 0;
  for (; saves < 2000; ++saves) {
    kept.push_back(at->save());
    for (const auto& part : kept.back()->parts[0]->parts)
      if (seen.insert(part.get()).second)
        fresh += part->numbers.size();
    ASSERT_TRUE(at->next({.rows = 1}));
  }
  // The first position lists all groups, with two numbers for each. Each further position adds
  // parts with only a few numbers, for the groups that changed.
  EXPECT_LT(fresh, 2 * keys + 64 * saves);
  const auto saved = at->save();
  EXPECT_LT(saved->parts[0]->parts.size(), 20u);
  auto again = make_iterator(x, context).value();
  ASSERT_EQ(again->restore(*saved), status{});
  EXPECT_EQ(read_all(*again), read_all(*at));
}

TEST(OpenGroups, SaveWhatThereIsAfterAnyChanges) {
  std::mt19937_64 random{7};
  detail::open_groups groups;
  block row;
  row.rows = 1;
  const int64_t value = 1;
  row.columns.push_back(column::of_scalars(std::span<const int64_t>{&value, 1}));
  uint64_t calls = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto key = static_cast<int64_t>(random() % 40) - 20;
    if (random() % 3 == 0 && groups.rows_of(key) != 0)
      groups.take(key, calls);
    else
      groups.put(key, row, {{0, 0, 1}}, i, calls);
    if (random() % (i < 10000 ? 5 : 3000) != 0)
      continue;
    position at;
    groups.save_to(at);
    detail::position_reader from{at};
    const auto saved = detail::open_groups::saved_counts(from, UINT64_MAX);
    ASSERT_TRUE(from.finish().ok());
    ASSERT_EQ(saved.size(), groups.size());
    for (const auto& [k, rows] : saved) ASSERT_EQ(rows, groups.rows_of(k));
  }
}

TEST(GroupByWindow, RefusesFunctionsThatDoNotFit) {
  auto in = range(0, 3);
  EXPECT_EQ(why(make_group_by_window(in, traced(in, [](expr x) { return cast<float>(x); }),
                                     batching(in), 2)),
            "group_by_window: key_func gives float32[]; it must give one integer scalar");
  EXPECT_EQ(why(make_group_by_window(in, modulo(in, 2), modulo(in, 2), 2)),
            "group_by_window: reduce_func must give a dataset");
  EXPECT_EQ(why(make_group_by_window(in, modulo(in, 2), batching(in), int64_t{0})),
            "group_by_window: window_size is 0; it must be at least 1");
  EXPECT_EQ(why(make_group_by_window(in, modulo(in, 2), batching(make_enumerate(in).value()), 2)),
            "group_by_window: reduce_func takes (int64[], (dataset(int64[]), dataset(int64[]))); "
            "it must take (key, elements): (int64[], dataset(int64[]))");
  auto named = std::make_shared<function>();
  named->named = {"key"};
  named->argument = in->spec;
  named->declared = in->spec;
  EXPECT_EQ(why(make_group_by_window(in, named, batching(in), 2)),
            "group_by_window: key_func is 'key', a function that is called by name; call it in a "
            "map before");
  EXPECT_EQ(why(make_groups(in, 2)),
            "group_by_window: the input gives int64[]; it must give (key, element)");
}

/// A vector of each of these lengths, in this order, with the numbers 0, 1, 2 ...
dataset_ptr vectors_of_lengths(const std::vector<int64_t>& lengths) {
  auto ends = make_from_tensor_slices({constant(lengths).node()}).value();
  return make_flat_map(
           ends,
           traced(ends,
                  [](expr n) {
                    return make_batch(
                             make_range(scalar_constant(0), n.node(), scalar_constant(1)).value(),
                             100)
                      .value();
                  }))
    .value();
}
function_ptr length_of(const dataset_ptr& in) {
  return traced(in, [](expr x) { return size(x); });
}

TEST(BucketBySequenceLength, BatchesElementsOfAboutOneLength) {
  auto in = vectors_of_lengths({1, 5, 2, 7, 3, 4, 2});
  auto x = make_bucket_by_sequence_length(in, length_of(in),
                                          {.boundaries = {3, 5}, .batch_sizes = {2, 2, 1}})
             .value();
  EXPECT_THAT(read(x), ElementsAre("[1, 5]{0 1 2 3 4}", "[2, 2]{0 0 0 1}", "[1, 7]{0 1 2 3 4 5 6}",
                                   "[2, 4]{0 1 2 0 0 1 2 3}", "[1, 2]{0 1}"));
}

TEST(BucketBySequenceLength, PadsToTheBoundaryWithAValue) {
  auto in = vectors_of_lengths({1, 3, 2, 4});
  const int64_t fill = -1;
  bucket_format format{.boundaries = {3, 6}, .batch_sizes = {2, 2, 2}};
  format.padding_values = {column::of_scalars(std::span<const int64_t>{&fill, 1})};
  format.pad_to_boundary = true;
  EXPECT_THAT(read(make_bucket_by_sequence_length(in, length_of(in), format).value()),
              ElementsAre("[2, 2]{0 -1 0 1}", "[2, 5]{0 1 2 -1 -1 0 1 2 3 -1}"));
  auto longer = vectors_of_lengths({6});
  EXPECT_THAT(read(make_bucket_by_sequence_length(longer, length_of(longer), format).value()),
              ElementsAre(HasSubstr("bucket_by_sequence_length: with pad_to_bucket_boundary, "
                                    "elements must be shorter than the last boundary")));
}

TEST(BucketBySequenceLength, LeavesTheRestOutOrUnpaddedIfAsked) {
  auto in = vectors_of_lengths({2, 5, 2, 5, 2});
  bucket_format format{.boundaries = {3}, .batch_sizes = {2, 2}};
  format.no_padding = true;
  format.drop_remainder = true;
  EXPECT_THAT(read(make_bucket_by_sequence_length(in, length_of(in), format).value()),
              ElementsAre("[2, 2]{0 1 0 1}", "[2, 5]{0 1 2 3 4 0 1 2 3 4}"));
  auto mixed = vectors_of_lengths({1, 2});
  format.drop_remainder = false;
  EXPECT_THAT(read(make_bucket_by_sequence_length(mixed, length_of(mixed), format).value()),
              ElementsAre(HasSubstr("batch: component 0 has rows of shapes [1] and [2]")));
}

TEST(BucketBySequenceLength, RefusesBucketsThatDoNotFit) {
  auto in = vectors_of_lengths({1});
  const auto made = [&](bucket_format format) {
    return why(make_bucket_by_sequence_length(in, length_of(in), std::move(format)));
  };
  EXPECT_EQ(made({.boundaries = {3}, .batch_sizes = {2}}),
            "bucket_by_sequence_length: there are 1 batch sizes for 1 boundaries; give one more "
            "than boundaries");
  EXPECT_EQ(made({.boundaries = {3, 3}, .batch_sizes = {2, 2, 2}}),
            "bucket_by_sequence_length: boundary 3 follows 3; boundaries must ascend");
  EXPECT_EQ(made({.boundaries = {}, .batch_sizes = {0}}),
            "bucket_by_sequence_length: a batch size is 0; it must be between 1 and 2147483647");
  EXPECT_EQ(why(make_bucket_by_sequence_length(in, traced(in, [](expr x) { return x; }),
                                               {.boundaries = {}, .batch_sizes = {1}})),
            "bucket_by_sequence_length: element_length_func gives int64[?]; it must give one "
            "integer scalar");
}

} // namespace
} // namespace headrace::detail
