#include "headrace/pipeline/engine/growing_bound.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

TEST(GrowingBound, GrowsOnlyIfWhatWasFullRunsEmpty) {
  growing_bound bound{100, 350};
  bound.ran_empty();
  EXPECT_EQ(bound.now(), 100u);
  bound.was_full();
  EXPECT_EQ(bound.now(), 100u);
  bound.ran_empty();
  EXPECT_EQ(bound.now(), 200u);
  bound.ran_empty();
  EXPECT_EQ(bound.now(), 200u);
}

TEST(GrowingBound, NeverPassesTheMost) {
  growing_bound bound{100, 350};
  for (int i = 0; i < 9; ++i) {
    bound.was_full();
    bound.ran_empty();
  }
  EXPECT_EQ(bound.now(), 350u);
  EXPECT_EQ((growing_bound{100, 50}).now(), 50u);
}

} // namespace
} // namespace headrace::detail
