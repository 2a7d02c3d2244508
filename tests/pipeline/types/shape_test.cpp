#include "headrace/pipeline/types/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Shape, IsBoundedIfNoProductOfItsExtentsIsTooLarge) {
  const auto large = int64_t{1} << 40;
  for (const auto& good : {shape{}, shape{0, 0}, shape{large}, shape{shape::unknown, large, 1},
                           shape{1 << 20, 0, 1 << 20}, shape::unknown_rank()})
    EXPECT_TRUE(good.is_bounded()) << to_string(good);
  for (const auto& bad : {shape{large + 1}, shape{large, 0, 2}, shape{INT64_MAX, INT64_MAX},
                          shape{int64_t{1} << 32, int64_t{1} << 32}, shape{-2}}) {
    EXPECT_FALSE(bad.is_bounded()) << to_string(bad);
    EXPECT_THAT(check_bounded(bad).message(), testing::HasSubstr(to_string(bad)));
  }
}

} // namespace
} // namespace headrace
