#include "headrace/headrace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> texts(const dataset& x) {
  std::vector<std::string> out;
  for (const auto& at : x) out.push_back(to_string(at));
  return out;
}
using words = std::vector<std::string>;

TEST(DatasetMethods, SelectElements) {
  EXPECT_EQ(texts(dataset::range(9).take_while([](expr x) { return x < 3; })),
            (words{"0", "1", "2"}));
  EXPECT_EQ(texts(dataset::range(9).shard(4, 1)), (words{"1", "5"}));
  EXPECT_EQ(texts(dataset::range(9).map([](expr x) { return x % 2; }).unique()), (words{"0", "1"}));
  EXPECT_EQ(texts(dataset::range(3).map([](expr x) { return 6 / x; }).ignore_errors()),
            (words{"6", "3"}));
  auto even = dataset::range(9).filter([](expr x) { return x % 2 == 0; });
  EXPECT_EQ(even.assert_cardinality(5).cardinality(), 5);
}

TEST(DatasetMethods, TakeNumbersThatDependOnTheElement) {
  const auto of = [](auto f) { return texts(dataset::range(1, 4).flat_map(f)); };
  EXPECT_EQ(of([](expr n) { return dataset::from_tensors(n).repeat(n); }),
            (words{"1", "2", "2", "3", "3", "3"}));
  EXPECT_EQ(of([](expr n) { return dataset::range(4).take(n - 1); }), (words{"0", "0", "1"}));
  EXPECT_EQ(of([](expr n) { return dataset::range(3).skip(n); }), (words{"1", "2", "2"}));
  EXPECT_EQ(of([](expr n) { return dataset::range(2).batch(n, {.drop_remainder = true}); }),
            (words{"[0]", "[1]", "[0, 1]"}));
  EXPECT_EQ(of([](expr n) { return dataset::range(2).padded_batch(cast<int32_t>(n) * 2); }),
            (words{"[0, 1]", "[0, 1]", "[0, 1]"}));
  EXPECT_EQ(of([](expr n) { return dataset::range(1).sleep(n).shuffle(n); }),
            (words{"0", "0", "0"}));
  EXPECT_EQ(dataset::range(9).take(expr{3}).cardinality(), 3) << "what is known is a number";
}

TEST(DatasetMethods, GroupElements) {
  const auto stack = [](const dataset& w) { return w.batch(10); };
  EXPECT_EQ(
    texts(dataset::range(4).window(2, {.shift = 1, .drop_remainder = true}).flat_map(stack)),
    (words{"[0, 1]", "[1, 2]", "[2, 3]"}));
  EXPECT_EQ(texts(dataset::range(4).window(3).flat_map(stack)), (words{"[0, 1, 2]", "[3]"}));
  EXPECT_EQ(texts(dataset::range(5).window(2).flat_map([](const dataset& w) { return w; })),
            texts(dataset::range(5)));
  EXPECT_EQ(texts(dataset::range(3).batch(2).padded_batch(
              2, {.padded_shapes = {{3}}, .padding_values = {expr{int64_t{-1}}}})),
            (words{"[0, 1, -1, 2, -1, -1]"}));
}

TEST(DatasetMethods, MergeDatasets) {
  const std::vector<dataset> two{dataset::range(2), dataset::range(10, 12)};
  auto choices = dataset::range(4).map([](expr x) { return 1 - x % 2; });
  EXPECT_EQ(texts(dataset::choose_from_datasets(two, choices)), (words{"10", "0", "11", "1"}));
  EXPECT_EQ(texts(dataset::sample_from_datasets(two, {.weights = {0, 1}, .seed = 1})),
            (words{"10", "11"}));
}

TEST(DatasetMethods, SampleTakesOtherWeightsForEachDraw) {
  const std::vector two{dataset::range(0, 4), dataset::range(10, 14)};
  const auto turns = dataset::range(6).map([](expr i) {
    const auto odd = cast<double>(floor_mod(i, constant(int64_t{2})));
    return stack({1.0 - odd, odd * 3});
  });
  EXPECT_EQ(texts(dataset::sample_from_datasets(two, turns, {.seed = 1})),
            (words{"0", "10", "1", "11", "2", "12"}));
  const auto even = dataset::range(1000).map([](expr) {
    return constant(std::vector<float>{1, 1});
  });
  const std::vector endless{dataset::range(1).repeat(), dataset::range(1, 2).repeat()};
  const auto draw = [&](uint64_t seed) {
    return texts(dataset::sample_from_datasets(endless, even, {.seed = seed}));
  };
  const auto drawn = draw(7);
  EXPECT_EQ(drawn.size(), 1000u);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), "0")), 500, 80);
  EXPECT_EQ(drawn, draw(7));
  EXPECT_NE(drawn, draw(8));
  const auto wrong = dataset::from_tensors(constant(std::vector<float>{1, 2, 3}));
  EXPECT_THAT([&] { texts(dataset::sample_from_datasets(two, wrong)); },
              ThrowsMessage<error>(HasSubstr("the shape is [3]; [2] is needed")));
}

TEST(DatasetMethods, ScanAndReduceCarryAState) {
  auto sums = dataset::range(1, 5).scan(int64_t{0}, [](expr sum, expr x) {
    return std::pair{sum + x, sum + x};
  });
  EXPECT_EQ(texts(sums), (words{"1", "3", "6", "10"}));
  const auto add = [](expr sum, expr x) { return sum + x; };
  EXPECT_EQ(to_string(dataset::range(5).reduce(int64_t{7}, add)), "17");
  EXPECT_EQ(to_string(dataset::range(0).reduce(int64_t{7}, add)), "7");
  EXPECT_THAT(
    [] { dataset::range(3).reduce(int64_t{0}, [](expr sum, expr x) { return sum + 6 / x; }); },
    ThrowsMessage<error>(HasSubstr("division by zero")));
}

TEST(DatasetMethods, TheSingleElementIsThatOrAnError) {
  EXPECT_EQ(to_string(dataset::range(7, 8).get_single_element()), "7");
  EXPECT_THAT([] { dataset::range(0).get_single_element(); },
              ThrowsMessage<error>(HasSubstr("the dataset has no element")));
  EXPECT_THAT([] { dataset::range(2).get_single_element(); },
              ThrowsMessage<error>(HasSubstr("more than one element")));
}

} // namespace
} // namespace headrace::detail
