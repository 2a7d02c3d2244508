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
using test::traced;
using testing::ElementsAre;
using testing::StartsWith;

TEST(Map, ComputesEachRow) {
  auto in = range(0, 5);
  auto x = make_map(in, traced(in, [](expr v) { return v * v + 1; })).value();
  EXPECT_THAT(read_numbers(x, always(2)), ElementsAre(1, 2, 5, 10, 17));
}

TEST(Map, PutsAnErrorInItsRowsPlaceAndGoesOn) {
  auto in = range(-2, 3);
  for (int64_t parallel : {0, 3}) {
    auto x = make_map(in, traced(in, [](expr v) { return 12 / v; }), parallel).value();
    for (size_t n : {1, 2, 10})
      EXPECT_THAT(read_all(x, always(n)),
                  ElementsAre("-6", "-12", StartsWith("!invalid_argument"), "12", "6"));
  }
}

TEST(Map, InParallelKeepsTheOrder) {
  auto in = range(0, 10000);
  auto f = traced(in, [](expr v) { return v * 3; });
  const auto want = read_numbers(make_map(in, f).value());
  for (int64_t n : {-1, 1, 4})
    for (size_t rows : {7, 1000})
      EXPECT_EQ(read_numbers(make_map(in, f, n).value(), always(rows)), want);
}

TEST(Map, InParallelCanBeLeftInTheMiddle) {
  auto in = make_repeat(range(0, 10)).value();
  auto x = make_map(in, traced(in, [](expr v) { return v * 3; }), 4).value();
  EXPECT_EQ(read_all(x, always(3), 30).size(), 30u);
}

TEST(Map, CallsANamedFunction) {
  auto in = range(0, 3);
  auto f = std::make_shared<function>();
  f->argument = in->spec;
  f->named = {"double"};
  f->declared = in->spec;
  auto x = make_map(in, f).value();
  iterator_context context;
  EXPECT_EQ(to_string(make_iterator(x, context).status()),
            "not_found: no function is registered as 'double' in this process");
  context.find_function = [](const function_reference&) -> named_function {
    return [](const block& rows) -> result<block> {
      block out = rows;
      std::vector<int64_t> values;
      for (auto v : rows.columns[0].values<int64_t>()) values.push_back(v * 2);
      out.columns[0] = column::of_scalars(std::span<const int64_t>{values});
      return out;
    };
  };
  EXPECT_THAT(read_all(*make_iterator(x, context).value()), ElementsAre("0", "2", "4"));
  context.find_function = [](const function_reference&) -> named_function {
    return [](const block&) -> result<block> { return unavailable("no"); };
  };
  EXPECT_THAT(
    read_all(*make_iterator(x, context).value()),
    ElementsAre("!unavailable: map: no", "!unavailable: map: no", "!unavailable: map: no"));
}

TEST(Filter, KeepsWhatPassesAndWhatFails) {
  auto in = range(-3, 4);
  auto x = make_filter(in, traced(in, [](expr v) { return 6 / v > 0; })).value();
  for (size_t n : {1, 3, 10})
    EXPECT_THAT(read_all(x, always(n)),
                ElementsAre(StartsWith("!invalid_argument"), "1", "2", "3"));
}

TEST(FlatMap, GivesTheDatasetsOneAfterTheOther) {
  auto in = range(0, 4);
  auto f = traced(in, [](expr v) {
    return make_range(scalar_constant(0), v.node(), scalar_constant(1)).value();
  });
  auto x = make_flat_map(in, f).value();
  for (size_t n : {1, 2, 10})
    EXPECT_THAT(read_numbers(x, always(n)), ElementsAre(0, 0, 1, 0, 1, 2));
}

TEST(FlatMap, FunctionsInsideSeeOuterRows) {
  auto in = range(1, 4);
  auto f = traced(in, [](expr v) {
    auto inner = range(0, 2);
    return make_map(inner, traced(inner, [v](expr w) { return v * 10 + w; })).value();
  });
  EXPECT_THAT(read_numbers(make_flat_map(in, f).value(), always(3)),
              ElementsAre(10, 11, 20, 21, 30, 31));
}

TEST(FlatMap, NestsAndSeesTheOutermostRow) {
  auto in = range(1, 3);
  auto f = traced(in, [](expr a) {
    auto middle = range(0, 2);
    return make_flat_map(middle, traced(middle,
                                        [a](expr b) {
                                          return make_range((a * 100 + b * 10).node(),
                                                            (a * 100 + b * 10 + 2).node(),
                                                            scalar_constant(1))
                                            .value();
                                        }))
      .value();
  });
  EXPECT_THAT(read_numbers(make_flat_map(in, f).value(), always(3)),
              ElementsAre(100, 101, 110, 111, 200, 201, 210, 211));
}

TEST(FlatMap, PutsARowsErrorInItsPlace) {
  auto in = range(-1, 2);
  auto f = traced(in, [](expr v) {
    return make_range(scalar_constant(0), (2 / v).node(), scalar_constant(1)).value();
  });
  EXPECT_THAT(read_all(make_flat_map(in, f).value()),
              ElementsAre(StartsWith("!invalid_argument"), "0", "1"));
}

TEST(FlatMap, SlicesItsRows) {
  auto in = make_batch(range(0, 5), 2).value();
  auto f = traced(in, [](expr v) { return make_from_tensor_slices({v.node()}).value(); });
  EXPECT_THAT(read_numbers(make_flat_map(in, f).value(), always(2)), ElementsAre(0, 1, 2, 3, 4));
}

// The example in the documentation of tf.data's interleave: cycle_length 2 and block_length 4 over
// range(1, 6), with each number repeated 6 times.
dataset_ptr documented(int64_t parallel) {
  auto in = range(1, 6);
  auto f = traced(
    in, [](expr v) { return make_repeat(make_from_tensors({v.node()}).value(), 6).value(); });
  return make_interleave(in, f, 2, 4, parallel).value();
}

TEST(Interleave, HasTheDocumentedOrder) {
  const std::vector<int64_t> want{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                                  3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5};
  for (int64_t parallel : {0, -1, 1, 5})
    for (size_t n : {1, 2, 5, 100}) EXPECT_EQ(read_numbers(documented(parallel), always(n)), want);
}

TEST(Interleave, PutsARowsErrorInItsPlace) {
  auto in = range(-1, 2);
  auto f = traced(in, [](expr v) {
    return make_range(v.node(), (v + 2 / v).node(), scalar_constant(1)).value();
  });
  // The range for -1 ends at -3 and is empty, the range for 0 fails because 2 is divided by 0, and
  // the range for 1 contains 1 and 2.
  auto x = make_interleave(in, f, 2).value();
  for (size_t n : {1, 10})
    EXPECT_THAT(read_all(x, always(n)), ElementsAre(StartsWith("!invalid_argument"), "1", "2"));
}

TEST(Interleave, ReadsNoMoreInputThanItNeeds) {
  auto in = make_enumerate(range(0, 1000)).value();
  auto f = traced(in, [](expr, expr v) {
    return make_range(v.node(), (v + 100).node(), scalar_constant(1)).value();
  });
  op_counters input;
  iterator_context context;
  context.counters = [&](const dataset_node& node) { return &node == in.get() ? &input : nullptr; };
  auto from = make_iterator(make_interleave(in, f, 4).value(), context).value();
  EXPECT_TRUE(from->next({.rows = 1}));
  EXPECT_EQ(input.rows, 1u);
  EXPECT_TRUE(from->next({.rows = 2}));
  EXPECT_EQ(input.rows, 3u);
}

TEST(Interleave, RowsDescendFromTheirInput) {
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 2}}};
  iterator_context context;
  context.splits = &splits;
  auto in = range(0, 10);
  auto f = traced(
    in, [](expr v) { return make_repeat(make_from_tensors({v.node()}).value(), 2).value(); });
  auto from = make_iterator(make_interleave(in, f, 2).value(), context).value();
  auto rows = from->next({.rows = 100});
  ASSERT_TRUE(rows);
  for (size_t i = 0; i < rows->rows; ++i)
    EXPECT_EQ(origin_of(rows->origins, i).split,
              static_cast<uint64_t>(rows->columns[0].values<int64_t>()[i]));
}

TEST(Batch, WithARowThatFailedIsThatErrorOnce) {
  auto in = range(-2, 4);
  auto x = make_batch(make_map(in, traced(in, [](expr v) { return 12 / v; })).value(), 2).value();
  for (size_t n : {1, 10})
    EXPECT_THAT(read_all(x, always(n)),
                ElementsAre("[2]{-6 -12}", StartsWith("!invalid_argument"), "[2]{6 4}"));
}

TEST(Shuffle, PassesErrorsBy) {
  auto in = range(-20, 20);
  auto x =
    make_shuffle(make_map(in, traced(in, [](expr v) { return 120 / v; })).value(), 10, 3).value();
  const auto one = read_all(x, always(1));
  EXPECT_EQ(one.size(), 40u);
  EXPECT_EQ(std::count_if(one.begin(), one.end(), [](const auto& s) { return s[0] == '!'; }), 1);
  EXPECT_EQ(one, read_all(x, always(7)));
  EXPECT_EQ(one, read_all(x, always(100)));
}

} // namespace
} // namespace headrace::detail
