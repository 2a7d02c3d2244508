#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

dataset_ptr windows(const dataset_ptr& in, int64_t size, int64_t shift, int64_t stride = 1,
                    bool drop = false) {
  return make_window(in, size, shift, stride, drop).value();
}

dataset_ptr batch_all(const dataset_ptr& rows) { return make_batch(rows, 1000).value(); }

/// Each window as one vector.
dataset_ptr stacked(const dataset_ptr& in) {
  return make_flat_map(in, traced(in, [](dataset_ptr w) { return batch_all(w); })).value();
}

/// The numbers from 0 to 5; the row of 3 fails.
dataset_ptr failing() {
  auto in = range(0, 6);
  return make_map(in, traced(in, [](expr x) { return x + 0 / (x - 3); })).value();
}

TEST(Window, GivesDatasetsThatOverlap) {
  EXPECT_EQ(to_string(windows(range(0, 6), 3, 2)->spec), "dataset(int64[])");
  EXPECT_THAT(read(stacked(windows(range(0, 6), 3, 2))),
              ElementsAre("[3]{0 1 2}", "[3]{2 3 4}", "[2]{4 5}"));
  EXPECT_THAT(read(stacked(windows(range(0, 6), 3, 2, 1, true))),
              ElementsAre("[3]{0 1 2}", "[3]{2 3 4}"));
  EXPECT_EQ(windows(range(0, 6), 3, 2)->cardinality, 3);
  EXPECT_EQ(windows(range(0, 6), 3, 2, 1, true)->cardinality, 2);
}

TEST(Window, TakesEveryFewthElementAndMayLeaveSomeOut) {
  EXPECT_THAT(read(stacked(windows(range(0, 7), 2, 1, 3, true))),
              ElementsAre("[2]{0 3}", "[2]{1 4}", "[2]{2 5}", "[2]{3 6}"));
  EXPECT_THAT(read(stacked(windows(range(0, 9), 2, 5))), ElementsAre("[2]{0 1}", "[2]{5 6}"));
  EXPECT_THAT(read(stacked(windows(range(0, 5), 3, 1, 2))),
              ElementsAre("[3]{0 2 4}", "[2]{1 3}", "[2]{2 4}", "[1]{3}", "[1]{4}"));
  EXPECT_THAT(read(stacked(windows(range(0, 0), 2, 5))), ElementsAre());
}

TEST(Window, IsReadByAnyOperatorInAFunction) {
  auto w = windows(range(0, 7), 3, 3);
  auto twice = [](dataset_ptr x) {
    auto even = make_filter(x, traced(x, [](expr n) { return n % 2 == 0; })).value();
    return make_repeat(make_map(even, traced(even, [](expr n) { return n * 10; })).value(), 2)
      .value();
  };
  EXPECT_THAT(read(make_flat_map(w, traced(w, twice)).value()),
              ElementsAre("0", "20", "0", "20", "40", "40", "60", "60"));
  EXPECT_THAT(read(make_interleave(w, traced(w, [](dataset_ptr x) { return x; }), 2).value()),
              ElementsAre("0", "3", "1", "4", "2", "5", "6"));
}

TEST(Window, OfStructuresGivesADatasetForEachComponent) {
  auto pairs = make_enumerate(range(10, 15)).value();
  auto w = windows(pairs, 2, 2);
  EXPECT_EQ(to_string(w->spec), "(dataset(int64[]), dataset(int64[]))");
  auto zipped = [](dataset_ptr a, dataset_ptr b) {
    return make_zip({batch_all(b), batch_all(a)}).value();
  };
  EXPECT_THAT(read(make_flat_map(w, traced(w, zipped)).value()),
              ElementsAre("[2]{10 11}|[2]{0 1}", "[2]{12 13}|[2]{2 3}", "[1]{14}|[1]{4}"));
  auto whole = [](expr_structure both) { return elements_of(both); };
  EXPECT_THAT(read(make_flat_map(w, traced(w, whole)).value()),
              ElementsAre("0|10", "1|11", "2|12", "3|13", "4|14"));
}

TEST(Window, PassesThroughOperatorsThatDoNotLookInside) {
  auto w = windows(range(0, 8), 2, 2);
  auto moved = make_shard(make_skip(make_repeat(w, 2).value(), 1).value(), 2, 0).value();
  EXPECT_THAT(read(stacked(make_shuffle(moved, 1).value())),
              ElementsAre("[2]{2 3}", "[2]{6 7}", "[2]{2 3}", "[2]{6 7}"));
  auto mixed = make_concatenate(windows(range(0, 3), 2, 2), w).value();
  EXPECT_THAT(read(stacked(make_take(mixed, 3).value())),
              ElementsAre("[2]{0 1}", "[1]{2}", "[2]{0 1}"));
  auto numbered = make_enumerate(w).value();
  auto f = [](expr i, dataset_ptr x) {
    return make_map(x, traced(x, [i](expr n) { return n + i * 100; })).value();
  };
  EXPECT_THAT(read(make_flat_map(numbered, traced(numbered, f)).value()),
              ElementsAre("0", "1", "102", "103", "204", "205", "306", "307"));
  auto swapped = make_map(numbered, traced(numbered,
                                           [](expr i, expr x) {
                                             return std::pair{x, i % 2 == 0};
                                           }))
                   .value();
  auto even = make_filter(swapped, traced(swapped, [](expr, expr yes) { return yes; })).value();
  auto first = traced(even, [](dataset_ptr x, expr) { return batch_all(x); });
  EXPECT_THAT(read(make_flat_map(even, first).value()), ElementsAre("[2]{0 1}", "[2]{4 5}"));
}

TEST(Window, IsCapturedByInnerFunctions) {
  auto w = windows(range(0, 4), 2, 2);
  auto f = [](dataset_ptr x) {
    auto times = range(0, 2);
    return make_flat_map(
             times,
             traced(times,
                    [x](expr i) {
                      return make_map(x, traced(x, [i](expr n) { return n + i * 10; })).value();
                    }))
      .value();
  };
  EXPECT_THAT(read(make_flat_map(w, traced(w, f)).value()),
              ElementsAre("0", "1", "10", "11", "2", "3", "12", "13"));
}

TEST(Window, IsReadInAFunctionAndInOneInsideOfIt) {
  auto w = windows(range(0, 4), 2, 2);
  auto f = [](dataset_ptr x) {
    return make_flat_map(
             x, traced(x,
                       [x](expr n) {
                         return make_map(x, traced(x, [n](expr m) { return n * 10 + m; })).value();
                       }))
      .value();
  };
  EXPECT_THAT(read(make_flat_map(w, traced(w, f)).value()),
              ElementsAre("0", "1", "10", "11", "22", "23", "32", "33"));
}

TEST(Window, MayHoldWindows) {
  auto w = windows(windows(range(0, 8), 2, 2), 3, 3);
  EXPECT_EQ(to_string(w->spec), "dataset(dataset(int64[]))");
  EXPECT_THAT(read(make_flat_map(w, traced(w, [](dataset_ptr x) { return stacked(x); })).value()),
              ElementsAre("[2]{0 1}", "[2]{2 3}", "[2]{4 5}", "[2]{6 7}"));
}

TEST(Window, KeepsRowsOfDifferentShapes) {
  auto ends = range(0, 4);
  auto rows =
    make_flat_map(ends,
                  traced(ends,
                         [](expr n) {
                           return batch_all(
                             make_range(scalar_constant(0), n.node(), scalar_constant(1)).value());
                         }))
      .value();
  auto w = windows(rows, 2, 2);
  EXPECT_THAT(read(make_flat_map(w, traced(w, [](dataset_ptr x) { return x; })).value()),
              ElementsAre("[1]{0}", "[2]{0 1}", "[3]{0 1 2}"));
}

TEST(Window, WithAnElementThatFailedFailsAsAWhole) {
  EXPECT_THAT(read(stacked(windows(failing(), 2, 1))),
              ElementsAre("[2]{0 1}", "[2]{1 2}", HasSubstr("division by zero"),
                          HasSubstr("division by zero"), "[2]{4 5}", "[1]{5}"));
}

TEST(Window, DescendsFromItsLastElement) {
  iterator_context context;
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 6}}, {0, 0, {}}};
  context.splits = &splits;
  auto from = make_iterator(stacked(windows(range(0, 6), 2, 2)), context).value();
  std::vector<std::string> origins;
  while (auto rows = from->next({.rows = 100}))
    for (const auto& at : test::origins_of(*rows)) origins.push_back(at);
  EXPECT_THAT(origins, ElementsAre("0/0/1", "0/0/3", "0/0/5"));
}

TEST(Window, RefusesSizesBelowOne) {
  EXPECT_EQ(why(make_window(range(0, 3), 0, 1)), "window: size is 0; it must be at least 1");
  EXPECT_EQ(why(make_window(range(0, 3), 1, 0)), "window: shift is 0; it must be at least 1");
  EXPECT_EQ(why(make_window(range(0, 3), 1, 1, 0)), "window: stride is 0; it must be at least 1");
}

TEST(Window, DoesNotLeaveItsGraph) {
  const auto w = windows(range(0, 6), 2, 2);
  const std::string text =
    "the elements of this dataset are dataset(int64[]); datasets as elements exist inside of a "
    "graph only: take them apart with flat_map or interleave, for example to batch them";
  iterator_context context;
  EXPECT_EQ(make_iterator(w, context).status(), invalid_argument(text));
  EXPECT_EQ(encode_graph(w).status(), invalid_argument(text));
  EXPECT_EQ(why(make_distribute(w, {.address = "a:1"})),
            "distribute: the input gives dataset(int64[]); it must give tensors: take the datasets "
            "apart before, with flat_map or interleave");
}

TEST(Window, IsRefusedWhereTensorsAreNeeded) {
  const auto w = windows(range(0, 6), 2, 2);
  EXPECT_THAT(why(make_batch(w, 2)), HasSubstr("batch: the input gives dataset(int64[])"));
  EXPECT_THAT(why(make_padded_batch(w, 2)), HasSubstr("padded_batch: the input gives dataset("));
  EXPECT_THAT(why(make_unique_elements(w)), HasSubstr("unique: the input gives dataset("));
  EXPECT_THAT(why(make_unbatch(w)), HasSubstr("unbatch: the input gives dataset("));
  try {
    traced(w, [](expr x) { return x + 1; });
    FAIL() << "computed with a dataset";
  } catch (const error& e) {
    EXPECT_EQ(
      e.why().message(),
      "add: operand 0 is a dataset(int64[]); functions compute with tensors, which batch in "
      "a flat_map makes of a dataset's elements");
  }
}

TEST(ElementsOf, RefusesTensors) {
  EXPECT_EQ(why(make_elements_of({scalar_constant(3)})),
            "elements_of: an argument is int64[]; it must be a dataset, as the elements of window "
            "are");
}

} // namespace
} // namespace headrace::detail
