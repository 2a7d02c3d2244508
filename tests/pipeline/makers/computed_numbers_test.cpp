#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;

/// The dataset that `make` returns inside a traced function, for a dataset of nine numbers and the
/// function's element.
template <class F>
dataset_ptr in_function(F&& make) {
  dataset_ptr out;
  traced(range(0, 3), [&](expr n) { return out = make(range(0, 9), n.node()); });
  return out;
}

TEST(ComputedNumbers, LeaveTheCardinalityUnknown) {
  using number = const number_argument&;
  const std::vector<std::function<dataset_ptr(dataset_ptr, number)>> operators{
    [](dataset_ptr in, number n) { return make_repeat(in, n).value(); },
    [](dataset_ptr in, number n) { return make_take(in, n).value(); },
    [](dataset_ptr in, number n) { return make_skip(in, n).value(); },
    [](dataset_ptr in, number n) { return make_batch(in, n, true).value(); },
    [](dataset_ptr in, number n) { return make_padded_batch(in, n).value(); },
  };
  for (const auto& make : operators) {
    const auto computed = in_function([&](auto in, auto n) { return make(in, n); });
    EXPECT_EQ(computed->cardinality, unknown_cardinality) << to_string(computed->op);
    const auto known = make(range(0, 9), scalar_constant(3));
    EXPECT_EQ(known->cardinality, make(range(0, 9), 3)->cardinality) << "a constant is a number";
    EXPECT_TRUE(known->tensors.empty());
  }
  const auto batches = in_function([](auto in, auto n) { return make_batch(in, n, true).value(); });
  EXPECT_EQ(batches->spec.components[0].dims, shape{shape::unknown});
}

TEST(ComputedNumbers, AreIntegerScalars) {
  const auto why = [](expr_ptr x) { return make_take(range(0, 9), x).status().message(); };
  EXPECT_EQ(why(expr{1.5}.node()), "take: count is float64[]; it must be an int64 scalar");
  EXPECT_EQ(why(constant(std::vector<int64_t>{1, 2}).node()),
            "take: count is int64[2]; it must be an int64 scalar");
  EXPECT_EQ(why(nullptr), "take: argument count is missing");
}

TEST(ComputedNumbers, SayNothingAboutThePassesOfASource) {
  const auto plan =
    plan_splits(in_function([](auto in, auto n) { return make_repeat(in, n).value(); }));
  ASSERT_EQ(plan.sources.size(), 1u);
  EXPECT_EQ(plan.sources[0].passes, std::nullopt);
}

TEST(ComputedNumbers, AreShownAsDots) {
  const auto shown = [](const dataset_ptr& x) { return find_record(x->op)->shown(*x); };
  EXPECT_EQ(shown(in_function([](auto in, auto n) { return make_take(in, n).value(); })), "...");
  EXPECT_EQ(shown(make_take(range(0, 9), 4).value()), "4");
}

} // namespace
} // namespace headrace::detail
