#include "headrace/pipeline/sources/memory/permutation.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace headrace::detail {
namespace {

TEST(Permutation, HasEachNumberOnce) {
  for (uint64_t n : {1, 2, 3, 4, 5, 17, 64, 65, 1000, 4096, 70000})
    for (uint64_t key : {0, 1, 99}) {
      const permutation order{n, key};
      std::vector<bool> seen(n);
      for (uint64_t i = 0; i < n; ++i) {
        const auto x = order.at(i);
        ASSERT_LT(x, n);
        ASSERT_FALSE(seen[x]);
        seen[x] = true;
      }
    }
}

TEST(Permutation, OfVeryManyNumbersStaysBelowThem) {
  const auto n = (uint64_t{1} << 61) + 12345;
  const permutation order{n, 7};
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_LT(order.at(n - 1 - i), n);
}

TEST(Permutation, ScattersNeighboursEvenly) {
  // In a random order the mean distance of the values at neighbouring places is a third of n.
  for (uint64_t n : {200, 10000}) {
    const permutation order{n, 3};
    double sum = 0;
    size_t fixed = 0;
    for (uint64_t i = 0; i + 1 < n; ++i) {
      const auto a = static_cast<double>(order.at(i)), b = static_cast<double>(order.at(i + 1));
      sum += std::abs(a - b);
      fixed += order.at(i) == i;
    }
    EXPECT_NEAR(sum / static_cast<double>(n) / static_cast<double>(n), 1.0 / 3, 0.04);
    EXPECT_LT(fixed, 10u); // in a random order one value keeps its place on average
  }
}

TEST(Permutation, IsTheSameEverywhere) {
  const permutation order{10, 1};
  std::vector<uint64_t> got;
  for (uint64_t i = 0; i < 10; ++i) got.push_back(order.at(i));
  const permutation other{10, 2};
  std::vector<uint64_t> unlike;
  for (uint64_t i = 0; i < 10; ++i) unlike.push_back(other.at(i));
  EXPECT_NE(got, unlike);
  EXPECT_EQ(got, (std::vector<uint64_t>{0, 2, 8, 3, 5, 4, 6, 7, 1, 9}));
}

} // namespace
} // namespace headrace::detail
