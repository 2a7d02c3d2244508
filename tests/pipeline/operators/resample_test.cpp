#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

/// A function that gives the class of a number: 0, 1 or 2, with shares of 0.5, 0.3 and 0.2.
function_ptr class_of(const dataset_ptr& in) {
  return traced(in, [](expr x) {
    return where(x % 10 < 5, constant(int64_t{0}),
                 where(x % 10 < 8, constant(int64_t{1}), constant(int64_t{2})));
  });
}

/// The share of each class.
std::vector<double> shares(const dataset_ptr& graph) {
  auto classes = make_map(graph, traced(graph, [](expr which, expr) { return which; })).value();
  std::vector<double> out(3);
  const auto all = test::read_numbers(classes);
  for (auto which : all) out[static_cast<size_t>(which)] += 1;
  for (auto& x : out) x /= static_cast<double>(all.size());
  return out;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double by) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], by) << "class " << i;
}

TEST(RejectionResample, ReachesTheTarget) {
  auto in = range(0, 60000);
  const std::vector<double> target{0.2, 0.2, 0.6}, initial{0.5, 0.3, 0.2};
  expect_near(shares(make_rejection_resample(in, class_of(in), target, initial, 7).value()), target,
              0.02);
  expect_near(shares(make_rejection_resample(in, class_of(in), target, {}, 7).value()), target,
              0.02);
  // Distributions need not sum up to 1.
  expect_near(shares(make_rejection_resample(in, class_of(in), {1, 1, 0}, {5, 3, 2}, 7).value()),
              {0.5, 0.5, 0}, 0.02);
}

TEST(RejectionResample, KeepsAllOfThemIfNothingIsToChange) {
  auto in = range(0, 50);
  auto x = make_rejection_resample(in, class_of(in), {0.5, 0.3, 0.2}, {0.5, 0.3, 0.2}, 1).value();
  const auto rows = read_all(x);
  ASSERT_EQ(rows.size(), 50u);
  EXPECT_EQ(rows[7], "1|7");
}

TEST(RejectionResample, IsTheSameForASeed) {
  auto in = range(0, 1000);
  const auto made = [&](std::optional<uint64_t> seed) {
    return make_rejection_resample(in, class_of(in), {0.2, 0.2, 0.6}, {0.5, 0.3, 0.2}, seed)
      .value();
  };
  const auto read = [](const dataset_ptr& x, uint64_t drawn, size_t rows) {
    iterator_context context;
    context.seed = drawn;
    return read_all(*make_iterator(x, context).value(), test::always(rows));
  };
  EXPECT_EQ(read(made(3), 1, 1000), read(made(3), 2, 1));
  EXPECT_NE(read(made(3), 1, 1000), read(made(4), 1, 1000));
  EXPECT_NE(read(made({}), 1, 1000), read(made({}), 2, 1000));
  EXPECT_EQ(read(made({}), 1, 1000), read(made({}), 1, 3));
}

TEST(RejectionResample, GivesElementsThatFailed) {
  auto in = range(0, 3);
  auto bad = traced(in, [](expr x) { return x + 1; });
  EXPECT_THAT(read_all(make_rejection_resample(in, bad, {0.5, 0.5}, {0.5, 0.5}, 1).value()),
              ElementsAre("1|0", HasSubstr("index 2 is not in [0, 2)"),
                          HasSubstr("index 3 is not in [0, 2)")));
}

TEST(RejectionResample, RefusesSharesThatDoNotFit) {
  auto in = range(0, 3);
  const auto made = [&](std::vector<double> target, std::vector<double> initial) {
    return why(make_rejection_resample(in, class_of(in), std::move(target), std::move(initial)));
  };
  EXPECT_EQ(made({}, {}),
            "rejection_resample: one of the shares of target_dist must be more than 0");
  EXPECT_EQ(made({-1, 2}, {}),
            "rejection_resample: target_dist has a share of -1; shares must be 0 or more");
  EXPECT_EQ(made({1, 1}, {1, 1, 1}),
            "rejection_resample: initial_dist has 3 classes, target_dist 2; give as many");
  EXPECT_EQ(made({0.5, 0.5}, {1, 0}),
            "rejection_resample: class 1 is to have a share of 0.5, but initial_dist says that "
            "there are none of it");
  EXPECT_EQ(
    why(make_rejection_resample(in, traced(in, [](expr x) { return cast<float>(x); }), {1, 1})),
    "rejection_resample: class_func gives float32[]; it must give one integer scalar");
}

} // namespace
} // namespace headrace::detail
