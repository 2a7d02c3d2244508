#include "headrace/pipeline/functions/math.hpp"

#include "tests/pipeline/functions/everywhere.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(OneHot, PutsOneAtEachIndexAndNothingForOthers) {
  auto out = apply_everywhere({tensors<int32_t>({0, 2, -1, 3, 1, 1}, {2})}, [](expr x) {
    return std::tuple{one_hot(x, 3), one_hot(x, 3, 5, 7, 0), one_hot(x[0], 2, true, false)};
  });
  EXPECT_EQ(values_of<float>(out.columns[0]),
            (std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[2, 3]");
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[3, 2]");
  EXPECT_EQ(values_of<int32_t>(out.columns[1]),
            (std::vector<int32_t>{5, 7, 7, 7, 7, 5, 7, 7, 7, 7, 7, 7, 7, 7, 5, 5, 7, 7}));
  EXPECT_EQ(values_of<bool>(out.columns[2]),
            (std::vector<bool>{true, false, false, false, false, true}));
  EXPECT_EQ(thrown_by([] { one_hot(1.5f, 3); }),
            "one_hot: the indices are float32[]; they must be integers");
  EXPECT_EQ(thrown_by([] { one_hot(1, -3); }), "one_hot: depth must be in [0, 1073741824]");
  EXPECT_EQ(thrown_by([] { one_hot(1, 3, 1, 0, 2); }), "one_hot: axis 2 is not in [-1, 1)");
}

TEST(Sort, AgreesWithTheStandardLibrary) {
  const uint64_t seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  std::vector<std::vector<int64_t>> rows;
  for (int r = 0; r < 40; ++r) {
    rows.emplace_back(random() % 20);
    for (auto& x : rows.back()) x = static_cast<int64_t>(random() % 10) - 5;
  }
  auto out = apply_everywhere({vectors<int64_t>(rows)}, [](expr x) {
    return std::tuple{sort(x), argsort(x), sort(x, 0, true), argsort(x, 0, true)};
  });
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<int32_t> up(rows[r].size());
    std::iota(up.begin(), up.end(), 0);
    auto down = up;
    const auto at = [&](int32_t i) { return rows[r][static_cast<size_t>(i)]; };
    std::stable_sort(up.begin(), up.end(), [&](auto i, auto j) { return at(i) < at(j); });
    std::stable_sort(down.begin(), down.end(), [&](auto i, auto j) { return at(i) > at(j); });
    for (size_t i = 0; i < up.size(); ++i) {
      const auto v = static_cast<size_t>(out.columns[0].first_value(r)) + i;
      EXPECT_EQ(out.columns[0].values<int64_t>()[v], at(up[i]));
      EXPECT_EQ(out.columns[1].values<int32_t>()[v], up[i]);
      EXPECT_EQ(out.columns[2].values<int64_t>()[v], at(down[i]));
      EXPECT_EQ(out.columns[3].values<int32_t>()[v], down[i]);
    }
  }
}

TEST(Sort, WorksAlongAnyAxisAndHasNaNWhereTensorFlowHasIt) {
  const float nan = NAN;
  auto out = apply_everywhere({tensors<float>({3, nan, -1, 2, 0, 5}, {3, 2})}, [](expr x) {
    return std::tuple{argsort(x, 0), argsort(x, 1, true)};
  });
  // The expected values are the results of TensorFlow 2.21.
  EXPECT_EQ(values_of<int32_t>(out.columns[0]), (std::vector<int32_t>{1, 0, 2, 1, 0, 2}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]), (std::vector<int32_t>{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(thrown_by([] { sort(expr{1}); }), "sort: a scalar has no axis to sort along");
  EXPECT_EQ(thrown_by([] { sort(constant(std::vector<std::string>{"a"})); }),
            "sort: the values are string[1]; they must be integers or floats");
}

TEST(TopK, GivesTheLargestAndFailsRowsThatAreTooShort) {
  auto out = apply_everywhere({vectors<float>({{1, 5, 3, 5}, {2}, {7, 8}})}, [](expr x) {
    auto [values, indices] = math::top_k(x, 2);
    return std::tuple{values, indices};
  });
  EXPECT_EQ(errors_of(out), (list{"1: sort: k is 2, but axis -1 of [1] has 1 values"}));
  EXPECT_EQ(print_row(out.columns[0], 0), print_row(tensors<float>({5, 5}, {2}), 0));
  EXPECT_EQ(print_row(out.columns[1], 0), print_row(tensors<int32_t>({1, 3}, {2}), 0));
  EXPECT_EQ(print_row(out.columns[1], 2), print_row(tensors<int32_t>({1, 0}, {2}), 0));
  EXPECT_EQ(thrown_by([] { math::top_k(constant(std::vector<float>{1}), -1); }),
            "math.top_k: k is -1; it must not be negative");
  EXPECT_EQ(thrown_by([] { math::top_k(constant(std::vector<float>{1}), 2); }),
            "sort: k is 2, but axis -1 of [1] has 1 values");
}

TEST(Cumsum, RunsInAllFourWays) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3})}, [](expr x) {
    return std::tuple{
      cumsum(x, 1), cumsum(x, 1, true), cumsum(x, 1, false, true), cumsum(x, -1, true, true),
      cumsum(x, 0), math::cumprod(x, 1)};
  });
  const auto is = [&](size_t i, const std::vector<int32_t>& wanted) {
    EXPECT_EQ(values_of<int32_t>(out.columns[i]), wanted) << i;
  };
  is(0, {1, 3, 6, 4, 9, 15});
  is(1, {0, 1, 3, 0, 4, 9});
  is(2, {6, 5, 3, 15, 11, 6});
  is(3, {5, 3, 0, 11, 6, 0});
  is(4, {1, 2, 3, 5, 7, 9});
  is(5, {1, 2, 6, 4, 20, 120});
  auto wrapped = apply({tensors<int8_t>({100, 100}, {2})}, [](expr x) { return cumsum(x); });
  EXPECT_EQ(values_of<int8_t>(wrapped.columns[0]), (std::vector<int8_t>{100, -56}));
}

TEST(Matmul, AgreesWithSumsOfProductsInOrder) {
  const uint64_t seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  for (const auto [m, k, n] :
       {std::array<int64_t, 3>{3, 5, 70}, {1, 1, 1}, {7, 33, 32}, {2, 0, 3}}) {
    const size_t rows = 3;
    std::vector<float> a(rows * static_cast<size_t>(m * k)), b(rows * static_cast<size_t>(k * n));
    for (auto* values : {&a, &b})
      for (auto& x : *values) x = static_cast<float>(random() % 2000) / 1000 - 1;
    auto out = apply_everywhere(
      {column::dense(dtype::float32, {m, k}, rows, buffer::copy_of(std::span<const float>{a})),
       column::dense(dtype::float32, {k, n}, rows, buffer::copy_of(std::span<const float>{b}))},
      [](expr x, expr y) {
        return std::tuple{matmul(x, y), matmul(transpose(x), transpose(y), true, true)};
      });
    const auto got = values_of<float>(out.columns[0]);
    EXPECT_EQ(values_of<float>(out.columns[1]), got);
    for (size_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (int64_t l = 0; l < k; ++l) {
            const volatile float product =
              a[r * static_cast<size_t>(m * k) + static_cast<size_t>(i * k + l)]
              * b[r * static_cast<size_t>(k * n) + static_cast<size_t>(l * n + j)];
            sum += product;
          }
          ASSERT_EQ(got[r * static_cast<size_t>(m * n) + static_cast<size_t>(i * n + j)], sum);
        }
  }
}

TEST(Matmul, BroadcastsLeadingAxesAndChecksTheOthers) {
  auto out = apply_everywhere({tensors<int64_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2})}, [](expr x) {
    return matmul(x, constant(std::vector<int64_t>{1, 10}, shape{2, 1}));
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{21, 43, 65, 87}));
  const auto a = constant(std::vector<float>(6), shape{2, 3});
  EXPECT_EQ(thrown_by([&] { matmul(a, a); }),
            "matmul: shapes [2, 3] and [2, 3] do not fit: 3 columns and 2 rows");
  EXPECT_EQ(thrown_by([&] { matmul(a, 1.0f); }),
            "matmul: an operand has shape []; at least two axes are needed");
  EXPECT_EQ(thrown_by([&] { matmul(cast<float16>(a), cast<float16>(a)); }),
            "matmul: operands are float16; float32, float64, int32 and int64 can be");
}

TEST(Tile, RepeatsAlongEachAxis) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2, 3, 4}, {2, 2})}, [](expr x) {
    return std::tuple{tile(x, {1, 2}), tile(x, {2, 1}), tile(x, {0, 3})};
  });
  EXPECT_EQ(values_of<int32_t>(out.columns[0]), (std::vector<int32_t>{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]), (std::vector<int32_t>{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(to_string(out.columns[2].row_shape()), "[0, 6]");
  auto text = apply_everywhere({texts({"a", "b"})}, [](expr x) { return tile(stack({x}), {2}); });
  EXPECT_EQ(texts_of(text.columns[0]), (list{"a", "a", "b", "b"}));
  EXPECT_EQ(thrown_by([] { tile(1, {2}); }),
            "tile: 1 numbers of times for an input of shape []; one an axis");
}

TEST(Pad, FillsOrMirrors) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3})}, [](expr x) {
    return std::tuple{pad(x, {{1, 0}, {0, 2}}), pad(x, {{0, 0}, {1, 1}}, 9),
                      pad(x, {{1, 1}, {2, 2}}, pad_mode::reflect),
                      pad(x, {{1, 0}, {3, 1}}, pad_mode::symmetric)};
  });
  const auto is = [&](size_t i, const std::vector<int32_t>& wanted) {
    EXPECT_EQ(values_of<int32_t>(out.columns[i]), wanted) << i;
  };
  is(0, {0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0});
  is(1, {9, 1, 2, 3, 9, 9, 4, 5, 6, 9});
  is(2, {6, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1});
  is(3, {3, 2, 1, 1, 2, 3, 3, 3, 2, 1, 1, 2, 3, 3, 6, 5, 4, 4, 5, 6, 6});
  auto rows = apply_everywhere({vectors<float>({{1}, {}, {2, 3}})}, [](expr x) {
    return pad(x, {{1, 1}}, pad_mode::reflect);
  });
  EXPECT_EQ(errors_of(rows),
            (list{"0: pad: axis 0 of [1] is mirrored by 1 and 1; at most 0 is there",
                  "1: pad: axis 0 of [0] is mirrored by 1 and 1; at most 0 is there"}));
  auto text = apply_everywhere({texts({"a"})}, [](expr x) { return pad(stack({x}), {{1, 1}}); });
  EXPECT_EQ(texts_of(text.columns[0]), (list{"", "a", ""}));
  EXPECT_EQ(thrown_by([] {
              pad(constant(std::vector<int>{1}), {{-1, 0}});
            }),
            "pad: a padding of -1; it must be in [0, 1073741824]");
}

TEST(Roll, MovesValuesRoundTheEnds) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3})}, [](expr x) {
    return std::tuple{roll(x, {1}, {1}), roll(x, {-4, 3}, {1, 0}), reverse(x, {1}),
                      reverse(x, {0, -1})};
  });
  EXPECT_EQ(values_of<int32_t>(out.columns[0]), (std::vector<int32_t>{3, 1, 2, 6, 4, 5}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]), (std::vector<int32_t>{5, 6, 4, 2, 3, 1}));
  EXPECT_EQ(values_of<int32_t>(out.columns[2]), (std::vector<int32_t>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(values_of<int32_t>(out.columns[3]), (std::vector<int32_t>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(thrown_by([] { roll(constant(std::vector<int>{1}), {1}, {1}); }),
            "roll: axis 1 is not in [-1, 1)");
  EXPECT_EQ(thrown_by([] { reverse(constant(std::vector<int>{1}), {1}); }),
            "reverse: axis 1 is not in [-1, 1)");
}

TEST(Slice, BeginsWhereTheElementSays) {
  auto out = apply_everywhere(
    {tensors<int32_t>({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, {2, 3}),
     tensors<int64_t>({0, 1, 1, 0, 0, 2}, {2})},
    [](expr x, expr begin) {
      return std::tuple{slice(x, begin, {1, 2}),
                        slice(x, constant(std::vector<int>{1, 1}), {-1, -1})};
    });
  EXPECT_EQ(errors_of(out), (list{"2: slice: 2 values from 2 on along axis 1 of [2, 3]"}));
  EXPECT_EQ(print_row(out.columns[0], 0), print_row(tensors<int32_t>({2, 3}, {1, 2}), 0));
  EXPECT_EQ(print_row(out.columns[0], 1), print_row(tensors<int32_t>({4, 5}, {1, 2}), 0));
  EXPECT_EQ(print_row(out.columns[1], 1), print_row(tensors<int32_t>({5, 6}, {1, 2}), 0));
}

TEST(EnsureShape, TellsWhatIsKnownFromThereOn) {
  auto out = apply_everywhere({vectors<int64_t>({{1, 2}, {3}, {}})}, [](expr x) {
    const auto sure = ensure_shape(x, shape{2});
    EXPECT_EQ(to_string(sure.spec()), "int64[2]");
    return sure;
  });
  EXPECT_EQ(errors_of(out), (list{"1: ensure_shape: the shape is [1]; [2] is needed",
                                  "2: ensure_shape: the shape is [0]; [2] is needed"}));
}

TEST(ClipByValue, KeepsNaNAndTakesScalarsOrTensors) {
  const float nan = NAN;
  auto out = apply_everywhere({tensors<float>({-3, 0.5f, nan, 9}, {4})},
                              [](expr x) { return clip_by_value(x, 0, 1); });
  EXPECT_EQ(print_row(out.columns[0], 0), print_row(tensors<float>({0, 0.5f, nan, 1}, {4}), 0));
}

} // namespace
} // namespace headrace::detail
