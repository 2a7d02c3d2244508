#include "headrace/pipeline/functions/random.hpp"

#include "tests/pipeline/functions/everywhere.hpp"

#include <algorithm>
#include <map>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(StatelessUniform, GivesTheBitsThatTensorFlowGives) {
  // The expected values were computed with tf.random.stateless_uniform of TensorFlow 2.21.
  auto out = apply_everywhere({tensors<int64_t>({1, 2}, {2})}, [](expr seed) {
    return std::tuple{random::stateless_uniform({5}, seed),
                      random::stateless_uniform({5}, seed, -10, 1000),
                      random::stateless_uniform({3}, seed, int64_t{-10}, int64_t{1000000000000})};
  });
  EXPECT_EQ(values_of<float>(out.columns[0]),
            (std::vector<float>{0x1.b028b0p-1f, 0x1.894f10p-3f, 0x1.fe10f8p-1f, 0x1.487930p-3f,
                                0x1.168498p-2f}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]), (std::vector<int32_t>{760, 399, 394, 409, 577}));
  EXPECT_EQ(values_of<int64_t>(out.columns[2]),
            (std::vector<int64_t>{146205965634, 637742050818, 317990157307}));
  out = apply_everywhere({tensors<int64_t>({(int64_t{1} << 40) + 7, -3}, {2})},
                         [](expr seed) { return random::stateless_uniform({3}, seed, 0.0, 1.0); });
  EXPECT_EQ(
    values_of<double>(out.columns[0]),
    (std::vector<double>{0x1.e0d6aa16f8a42p-1, 0x1.a0e3425080f00p-6, 0x1.ca250a2f3a434p-2}));
}

TEST(StatelessNormal, IsNearTensorFlows) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2}, {2})}, [](expr seed) {
    return std::tuple{random::stateless_normal({5}, seed),
                      random::stateless_normal({3}, seed, 0.0, 1.0, dtype::float64)};
  });
  const double singles[] = {0.544110119342804, 0.20738030970096588, 0.0735643208026886,
                            0.04643455147743225, -1.301589846611023};
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(out.columns[0].values<float>()[i], singles[i], 1e-6);
  const double doubles[] = {-0.1423118100189212, 0.7406072461585091, -1.469047669443883};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(out.columns[1].values<double>()[i], doubles[i], 1e-12);
}

TEST(StatelessRandom, HasTheMomentsOfItsDistribution) {
  const int64_t n = 200000;
  auto out = apply({tensors<int64_t>({17, 4}, {2})}, [&](expr seed) {
    return std::tuple{random::stateless_uniform({n}, seed, 2.0, 4.0),
                      random::stateless_normal({n}, seed, 5.0, 2.0, dtype::float64),
                      random::stateless_truncated_normal({n}, seed, 0.0, 1.0, dtype::float64)};
  });
  const auto moments = [&](size_t i) {
    double sum = 0, squares = 0;
    for (auto x : out.columns[i].values<double>()) {
      sum += x;
      squares += x * x;
    }
    const auto mean = sum / n;
    return std::pair{mean, squares / n - mean * mean};
  };
  EXPECT_NEAR(moments(0).first, 3, 0.01);
  EXPECT_NEAR(moments(0).second, 4.0 / 12, 0.01);
  EXPECT_NEAR(moments(1).first, 5, 0.03);
  EXPECT_NEAR(moments(1).second, 4, 0.05);
  EXPECT_NEAR(moments(2).first, 0, 0.01);
  EXPECT_NEAR(moments(2).second, 0.774, 0.01);
  for (auto x : out.columns[2].values<double>()) ASSERT_LT(std::abs(x), 2.0);
}

TEST(StatelessRandom, SmallFloatsHaveTheLowestBitsOfTheWordsOfFloats) {
  auto out = apply_everywhere({tensors<int64_t>({1, 2}, {2})}, [](expr seed) {
    const extents dims{1 << 16};
    return std::tuple{random::stateless_uniform(dims, seed, 0.0f, 1.0f),
                      random::stateless_uniform(dims, seed, 0.0f, 1.0f, dtype::float16),
                      random::stateless_uniform(dims, seed, 0.0f, 1.0f, dtype::bfloat16)};
  });
  const auto wide = values_of<float>(out.columns[0]);
  const auto half = values_of<float16>(out.columns[1]);
  const auto brain = values_of<bfloat16>(out.columns[2]);
  for (size_t i = 0; i < wide.size(); ++i) {
    const auto word = static_cast<uint32_t>(wide[i] * (1 << 23));
    ASSERT_EQ(static_cast<float>(half[i]), static_cast<float>(word % 1024) / 1024) << i;
    ASSERT_EQ(static_cast<float>(brain[i]), static_cast<float>(word % 128) / 128) << i;
  }
}

TEST(StatelessRandom, EachRowHasItsSeed) {
  auto out = apply_everywhere({tensors<int64_t>({1, 2, 1, 3, 1, 2, 2, 1}, {2})}, [](expr seed) {
    return std::tuple{random::stateless_uniform({2}, seed, 0, 1 << 30),
                      random::stateless_uniform({2}, random::fold_in(seed, 1), 0, 1 << 30),
                      random::stateless_truncated_normal({3}, seed),
                      random::stateless_uniform({0}, seed),
                      random::stateless_uniform({}, seed, 0.0f, 1.0f, dtype::bfloat16)};
  });
  const auto rows = print_rows(out);
  EXPECT_EQ(rows[0], rows[2]);
  EXPECT_NE(rows[0], rows[1]);
  EXPECT_NE(rows[0], rows[3]);
  EXPECT_NE(values_of<int32_t>(out.columns[0]), values_of<int32_t>(out.columns[1]));
}

TEST(StatelessCategorical, FollowsTheLogits) {
  auto out = apply_everywhere(
    {tensors<int64_t>({5, 6}, {2}),
     tensors<float>({0, std::log(3.0f), -INFINITY, -INFINITY, 7, -INFINITY}, {2, 3})},
    [](expr seed, expr logits) { return random::stateless_categorical(logits, 20000, seed); });
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[2, 20000]");
  const auto drawn = values_of<int64_t>(out.columns[0]);
  std::map<int64_t, int> first;
  for (size_t i = 0; i < 20000; ++i) ++first[drawn[i]];
  EXPECT_NEAR(first[1] / 20000.0, 0.75, 0.02);
  EXPECT_EQ(first[0] + first[1], 20000);
  EXPECT_TRUE(std::all_of(drawn.begin() + 20000, drawn.end(), [](auto x) { return x == 1; }));
  out = apply_everywhere(
    {tensors<int64_t>({5, 6}, {2}), tensors<float>({-INFINITY}, {1})},
    [](expr seed, expr logits) { return random::stateless_categorical(logits, 2, seed); });
  EXPECT_EQ(errors_of(out), (list{"0: random.stateless_categorical: no logit is finite"}));
}

TEST(StatelessRandom, ChecksItsArguments) {
  const auto seed = constant(std::vector<int64_t>{1, 2});
  EXPECT_EQ(thrown_by([] { random::stateless_uniform({2}, 1); }),
            "random.stateless_uniform: the seed is int32[]; a vector of two integers is needed");
  EXPECT_EQ(
    thrown_by([&] { random::stateless_uniform({-1}, seed); }),
    "random.stateless_uniform: shape [?]: extents must be known, at most 1073741824 values");
  EXPECT_EQ(thrown_by([&] { random::stateless_uniform({2}, seed, uint8_t{1}, uint8_t{2}); }),
            "random.stateless_uniform: bounds are uint8[] and uint8[]; int32 or int64 scalars are "
            "needed");
  auto out = apply_everywhere({scalars<int32_t>({0, 1})}, [&](expr high) {
    return random::stateless_uniform({1}, seed, 0, high);
  });
  EXPECT_EQ(errors_of(out), (list{"0: random.stateless_uniform: no integer is in [0, 0)"}));
}

} // namespace
} // namespace headrace::detail
