#include "headrace/pipeline/explain/explanation.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;
using testing::HasSubstr;
using testing::Not;

/// A map with the function that `with_slow` provides: it computes for 5 ms for each block.
dataset_ptr slow_map(const dataset_ptr& in, int64_t parallel = 0) {
  auto f = std::make_shared<function>();
  f->argument = in->spec;
  f->declared = in->spec;
  f->named = {"slow"};
  return make_map(in, f, parallel).value();
}

iterator_context with_slow() {
  iterator_context out;
  out.find_function = [](const function_reference&) -> named_function {
    return [](const block& rows) -> result<block> {
      const auto until = clock::system().now() + std::chrono::milliseconds{5};
      while (clock::system().now() < until) {
      }
      return rows;
    };
  };
  return out;
}

TEST(Explain, CountsRowsBlocksAndBytesOfEachOperator) {
  const auto graph = make_batch(make_take(range(0, 1000), 640).value(), 64).value();
  const auto seen = explain(graph, {}).value();
  ASSERT_EQ(seen.operators.size(), 3u);
  EXPECT_TRUE(seen.ended);
  EXPECT_EQ(seen.rows, 10u);
  EXPECT_EQ(seen.operators[0].name, "batch(64)");
  EXPECT_EQ(seen.operators[0].rows, 10u);
  EXPECT_EQ(seen.operators[0].bytes, 640u * 8);
  EXPECT_EQ(seen.operators[1].name, "take(640)");
  EXPECT_EQ(seen.operators[1].rows, 640u);
  EXPECT_EQ(seen.operators[2].name, "range");
  EXPECT_EQ(seen.operators[2].depth, 2u);
  EXPECT_GT(seen.operators[2].blocks, 0u);
}

TEST(Explain, ShowsTheLabelOfAFunctionAndNotWhatIsShipped) {
  const auto in = range(0, 2);
  const std::pair<function_reference, std::string> functions[] = {
    {{"python", "tokenize.<locals>.f", "shipped"}, "map('python:tokenize.<locals>.f')"},
    {{"tiles:decode:2"}, "map('tiles:decode:2')"},
    {{"python", std::string(300, 'a'), "shipped"}, "map('python:" + std::string(193, 'a') + "')"}};
  for (const auto& [named, shown] : functions) {
    auto f = std::make_shared<function>();
    f->argument = f->declared = in->spec;
    f->named = named;
    const auto seen = explain(make_map(in, f).value(), with_slow()).value();
    EXPECT_EQ(seen.operators.at(0).name, shown);
    const auto refused = make_map(make_window(in, 2, 2).value(), f).status();
    EXPECT_THAT(refused.message(), Not(HasSubstr("shipped")));
  }
}

TEST(Explain, ShowsTheWorkInsideOfAParallelInterleave) {
  const auto in = range(0, 6);
  const auto inner = traced(in, [](expr x) {
    return slow_map(make_range(x.node(), (x + 3).node(), scalar_constant(1)).value());
  });
  const auto seen = explain(make_interleave(in, inner, 2, 1, 2).value(), with_slow()).value();
  ASSERT_LT(seen.bottleneck, seen.operators.size());
  const auto& slow = seen.operators[seen.bottleneck];
  EXPECT_THAT(slow.name, HasSubstr("map('slow'"));
  EXPECT_TRUE(slow.in_function);
  EXPECT_EQ(slow.rows, 18u);
}

TEST(Explain, NamesTheBottleneck) {
  for (int64_t parallel : {0, 2}) {
    const auto squares =
      make_map(range(0, 40), traced(range(0, 1), [](expr x) { return x * x; })).value();
    const auto graph = make_prefetch(slow_map(squares, parallel), 4).value();
    const auto seen = explain(graph, with_slow()).value();
    ASSERT_LT(seen.bottleneck, seen.operators.size());
    EXPECT_THAT(seen.operators[seen.bottleneck].name, HasSubstr("map('slow'"));
    EXPECT_GE(seen.operators[0].queue, 0);
    const auto text = to_text(seen);
    EXPECT_THAT(text, testing::StartsWith("bottleneck: map('slow'"));
    EXPECT_THAT(text, HasSubstr("\n>   map('slow'")) << "it is marked, as others may have its name";
    EXPECT_EQ(std::ranges::count(text, '>'), 1) << text;
  }
}

TEST(Explain, CountsTheCallsThatWereChosenNotThoseThatMightHaveBeen) {
  for (const int64_t threads : {1, 6}) {
    const auto graph =
      make_options(slow_map(range(0, 20), -1), {.autotune = false, .threads = threads}).value();
    const auto seen = explain(graph, with_slow()).value();
    ASSERT_EQ(seen.bottleneck, 0u);
    EXPECT_EQ(seen.operators[0].calls, static_cast<double>(threads));
    const auto text = to_text(seen);
    EXPECT_EQ(text.find("calls at a time") == text.npos, threads == 1) << text;
  }
}

TEST(Explain, SharesAFunctionsTimeAmongTheCallsOfItsInterleave) {
  const auto in = range(0, 6);
  const auto inner = traced(in, [](expr x) {
    return slow_map(make_range(x.node(), (x + 3).node(), scalar_constant(1)).value());
  });
  const auto seen = explain(make_interleave(in, inner, 3, 1, 3).value(), with_slow()).value();
  ASSERT_LT(seen.bottleneck, seen.operators.size());
  EXPECT_EQ(seen.operators[seen.bottleneck].calls, 3);
}

TEST(Explain, LooksIntoFunctions) {
  const auto in = range(0, 10);
  const auto f = traced(
    in, [](expr x) { return make_range(x.node(), (x + 3).node(), scalar_constant(1)).value(); });
  const auto seen = explain(make_flat_map(in, f).value(), {}).value();
  ASSERT_EQ(seen.operators.size(), 3u);
  EXPECT_EQ(seen.operators[0].rows, 30u);
  EXPECT_TRUE(seen.operators[1].in_function);
  EXPECT_EQ(seen.operators[1].rows, 30u);
  EXPECT_EQ(seen.operators[2].rows, 10u);
}

TEST(Explain, StopsAtItsBoundsAndTellsFailures) {
  const auto endless = make_counter().value();
  const auto seen = explain(endless, {}, {.most_rows = 5000}).value();
  EXPECT_FALSE(seen.ended);
  EXPECT_EQ(seen.rows, 5000u);
  EXPECT_THAT(to_text(seen), HasSubstr("stopped there"));
  const auto bad = make_map(range(0, 3), traced(range(0, 1), [](expr x) { return 1 / x; })).value();
  EXPECT_THAT(to_text(explain(bad, {}).value()), HasSubstr("1 of them failed, first: "));
}

TEST(Explain, CountsWhatIgnoreErrorsLeftOut) {
  const auto thirds =
    make_map(range(0, 3000), traced(range(0, 1), [](expr x) { return 1 / (x % 3); })).value();
  const auto graph =
    make_batch(make_ignore_errors(make_options(thirds, {.threads = 1}).value()).value(), 7).value();
  const auto seen = explain(graph, {}).value();
  ASSERT_EQ(seen.operators[1].name, "ignore_errors");
  EXPECT_EQ(seen.operators[1].ignored, 1000u);
  EXPECT_THAT(to_text(seen), HasSubstr("\nignore_errors left out 1000 elements that failed\n"));
  const auto none = explain(make_ignore_errors(range(0, 9)).value(), {}).value();
  EXPECT_THAT(to_text(none), Not(HasSubstr("left out")));
  // The zip reads `whole` both directly and below ignore_errors. The rows that it reads directly do
  // not count as left out.
  const auto whole =
    make_map(range(0, 9), traced(range(0, 1), [](expr x) { return x + 1; })).value();
  const auto both = make_zip({whole, make_ignore_errors(whole).value()}).value();
  EXPECT_THAT(to_text(explain(both, {}).value()), Not(HasSubstr("left out")));
}

TEST(Explain, OfNothingIsATable) {
  EXPECT_THAT(to_text(explain(range(0, 0), {}).value()), HasSubstr("0 elements in "));
}

} // namespace
} // namespace headrace::detail
