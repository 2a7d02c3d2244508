#include "headrace/actors/cache/window_store.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::detail {
namespace {

block rows_of(size_t rows) {
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(std::vector<int64_t>(rows)));
  return out;
}

TEST(WindowStore, CallsAWindowOnceWhoseBlocksAreEvictedForAnother) {
  const auto one = window_store::charge_of(rows_of(10));
  const auto store = window_store::make(4 * one);
  const auto idle = store->open(), busy = store->open();
  int called = 0, own = 0;
  store->when_there_is_room(idle, [&] { ++called; });
  store->when_there_is_room(busy, [&] { ++own; });
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(store->append(idle, 10 * i, rows_of(10), false));
  EXPECT_EQ(called, 0);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(store->append(busy, 10 * i, rows_of(10), false));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(store->of(idle).first, 20u);
  ASSERT_TRUE(store->append(busy, 20, rows_of(10), false));
  EXPECT_EQ(called, 2) << "its state was read, and changed again";
  EXPECT_EQ(own, 0);
}

} // namespace
} // namespace headrace::detail
