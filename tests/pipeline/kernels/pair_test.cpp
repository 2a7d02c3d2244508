#include "headrace/pipeline/kernels/tile.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::targets_here;

constexpr expr_op paired[] = {expr_op::add, expr_op::subtract, expr_op::multiply, expr_op::divide};

template <class T>
void equals_two_kernels(dtype type) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  std::normal_distribution<T> numbers{0, 100};
  for (const size_t n : {0, 1, 15, 16, 17, 1000}) {
    std::vector<T> xs(n), between(n), expected(n), out(n);
    for (auto& x : xs) x = numbers(random);
    if (n > 2)
      xs[1] = std::numeric_limits<T>::quiet_NaN(), xs[2] = std::numeric_limits<T>::infinity();
    const T a = numbers(random), b = numbers(random);
    for (const auto first : paired)
      for (const auto second : paired) {
        const auto both = find_pair_tile(first, second, type);
        ASSERT_NE(both, nullptr);
        find_tile(first, type, tile_form::right_scalar)(between.data(), xs.data(), &a, nullptr, n);
        find_tile(second, type, tile_form::right_scalar)(expected.data(), between.data(), &b,
                                                         nullptr, n);
        both(out.data(), xs.data(), &a, &b, n);
        for (size_t i = 0; i < n; ++i)
          ASSERT_TRUE(out[i] == expected[i] || (std::isnan(out[i]) && std::isnan(expected[i])))
            << "functions " << static_cast<int>(first) << ", " << static_cast<int>(second) << " of "
            << xs[i];
        auto in_place = xs;
        both(in_place.data(), in_place.data(), &a, &b, n);
        ASSERT_TRUE(n == 0 || std::memcmp(in_place.data(), out.data(), n * sizeof(T)) == 0);
      }
  }
}

TEST(Pairs, GiveTheBitsOfTwoKernelsInEveryVariant) {
  for (const auto target : targets_here()) {
    const chosen_target use{target};
    equals_two_kernels<float>(dtype::float32);
    equals_two_kernels<double>(dtype::float64);
  }
}

TEST(Pairs, AreOfFloatsAlone) {
  EXPECT_EQ(find_pair_tile(expr_op::add, expr_op::multiply, dtype::int64), nullptr);
  EXPECT_EQ(find_pair_tile(expr_op::add, expr_op::multiply, dtype::float16), nullptr);
  EXPECT_EQ(find_pair_tile(expr_op::sqrt, expr_op::multiply, dtype::float32), nullptr);
}

TEST(Fill, WritesTheValueToAllPlacesAndNoOthers) {
  for (const auto target : targets_here()) {
    const chosen_target use{target};
    for (const size_t size : {1, 2, 4, 8, 16})
      for (const size_t n : {0, 1, 3, 16, 100}) {
        std::vector<unsigned char> value(size), out((n + 1) * size, 0xee);
        for (size_t i = 0; i < size; ++i) value[i] = static_cast<unsigned char>(i + 1);
        find_fill(size)(out.data(), value.data(), n);
        for (size_t i = 0; i < out.size(); ++i)
          ASSERT_EQ(out[i], i < n * size ? value[i % size] : 0xee) << size << " bytes, " << n;
      }
  }
}

} // namespace
} // namespace headrace::detail::kernels
