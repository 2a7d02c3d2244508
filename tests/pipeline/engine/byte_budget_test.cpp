#include "headrace/pipeline/engine/byte_budget.hpp"
#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace headrace::detail {
namespace {

using detail::budget_share;
using detail::byte_budget;
using test::range;
using test::read_all;
using test::traced;

constexpr size_t mebibyte = size_t{1} << 20;

TEST(ByteBudget, RefusesWhatDoesNotFitAndTellsWhenThereIsRoom) {
  auto budget = std::make_shared<byte_budget>(100);
  int told = 0;
  budget_share one{budget, std::make_shared<detail::row_size>(10), [] {}};
  budget_share other{budget, std::make_shared<detail::row_size>(60), [&] { ++told; }};
  const auto first = one.take(7);
  EXPECT_EQ(first.rows, 7u);
  EXPECT_EQ(budget->held(), 70u);
  EXPECT_EQ(other.take(5).rows, 0u); // there is no room for a single row
  EXPECT_EQ(one.take(7).rows, 3u);   // as many rows as there is room for
  one.give_back(10);
  EXPECT_EQ(told, 1);
  one.give_back(10); // no request was refused since the first give_back
  EXPECT_EQ(told, 1);
  EXPECT_EQ(budget->peak(), 100u);
}

TEST(ByteBudget, LearnsHowLargeRowsAreAndEndsEmpty) {
  auto budget = std::make_shared<byte_budget>(1000);
  {
    budget_share one{budget, nullptr, [] {}};
    const auto first = one.take(1);
    EXPECT_EQ(one.settle(first.bytes, 1, 200), 0u); // the row is larger than the estimate
    EXPECT_EQ(budget->held(), 200u);
    EXPECT_EQ(one.take(100).rows, 4u);
  }
  EXPECT_EQ(budget->held(), 0u);
}

/// Maps each number to a vector of one kilobyte.
dataset_ptr kilobytes(const dataset_ptr& in) {
  return make_map(in, traced(in, [](expr x) { return x + constant(std::vector<int64_t>(128, 0)); }))
    .value();
}

/// Reads some rows of a graph, and all others once the bytes that are read ahead have come near the
/// bound. Returns the largest number of bytes that were held.
size_t most_ahead(const dataset_ptr& of, size_t memory, bool deterministic, size_t first = 1) {
  const auto graph =
    make_options(of, {.deterministic = deterministic, .memory = static_cast<int64_t>(memory)})
      .value();
  iterator_context context;
  const auto shared = std::make_shared<detail::engine>(context, options_of(*graph));
  const auto top = shared->make(graph, {}).value();
  size_t rows = 0;
  while (rows < first) rows += top->next({.rows = 1})->rows;
  while (shared->budget()->held() < memory - memory / 8) std::this_thread::yield();
  while (const auto more = top->next({.rows = 7})) rows += more->rows;
  EXPECT_EQ(static_cast<int64_t>(rows), of->cardinality);
  return shared->budget()->peak();
}

TEST(ByteBudget, HoldsForAllPrefetchesOfAGraphTogether) {
  auto graph = kilobytes(range(0, 8000));
  for (int i = 0; i < 20; ++i) graph = make_prefetch(graph, i % 2 == 0 ? -1 : 5000).value();
  EXPECT_LE(most_ahead(graph, mebibyte, true), mebibyte);
}

TEST(ByteBudget, HoldsForAllPlacesOfAnInterleave) {
  for (const bool deterministic : {true, false}) {
    const auto in = range(0, 128);
    const auto inner = traced(in, [](expr x) {
      return kilobytes(make_range(x.node(), (x + 100).node(), scalar_constant(1)).value());
    });
    auto graph = make_interleave(in, inner, 64, 1, -1).value();
    graph = make_assert_cardinality(graph, 12800).value();
    EXPECT_LE(most_ahead(graph, mebibyte, deterministic, 200), mebibyte);
  }
}

TEST(ByteBudget, HoldsForParallelCallsWithWhatIsReadAheadOfThem) {
  for (const bool deterministic : {true, false}) {
    auto graph = range(0, 8000);
    for (int i = 0; i < 4; ++i) {
      graph =
        make_map(graph, traced(graph, [](expr x) { return x + constant(int64_t{1}); }), 8).value();
      graph = make_prefetch(graph, -1).value();
    }
    graph = make_prefetch(kilobytes(graph), -1).value();
    EXPECT_LE(most_ahead(graph, mebibyte, deterministic), mebibyte);
  }
}

TEST(ByteBudget, OfLessThanARowStallsNothing) {
  for (const bool deterministic : {true, false}) {
    const auto in = range(0, 20);
    const auto inner = traced(in, [](expr x) {
      return kilobytes(make_range(x.node(), (x + 10).node(), scalar_constant(1)).value());
    });
    auto graph = make_interleave(in, inner, 8, 2, 4).value();
    graph = make_map(graph, traced(graph, [](expr x) { return x * 2; }), 4).value();
    graph = make_prefetch(make_prefetch(graph, -1).value(), 100).value();
    graph = make_options(graph, {.deterministic = deterministic, .memory = 1}).value();
    EXPECT_EQ(read_all(graph).size(), 200u);
  }
}

} // namespace
} // namespace headrace::detail
