#include "headrace/actors/cache/window_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
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

TEST(WindowStore, CallsAWindowWhoseBlocksAreEvictedForAnEncodedBlockOfAnother) {
  const auto one = window_store::charge_of(rows_of(10));
  const auto store = window_store::make(4 * one);
  const auto idle = store->open(), busy = store->open();
  int called = 0;
  store->when_there_is_room(idle, [&] { ++called; });
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(store->append(idle, 10 * i, rows_of(10), false));
  const auto sent = store->append(busy, 0, rows_of(10), false);
  ASSERT_TRUE(sent);
  EXPECT_EQ(called, 0);
  ASSERT_TRUE(sent->written(rows_of(10), block_encoding::plain));
  EXPECT_GT(store->of(idle).first, 0u);
  EXPECT_EQ(called, 1);
}

TEST(WindowStore, WindowsOfSeveralThreadsShareTheBudget) {
  const auto one = window_store::charge_of(rows_of(10));
  const auto store = window_store::make(6 * one);
  std::atomic<uint64_t> called = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto window = store->open();
      store->when_there_is_room(window, [&] { ++called; });
      for (uint64_t row = 0; row < 2000; row += 10) {
        store->hold(window, row);
        store->append(window, row, rows_of(10), row % 20 == 0);
        if (const auto found = store->find(window, row)) {
          const auto rows = found->get();
          ASSERT_TRUE(rows) << "the window holds the row";
          EXPECT_TRUE(found->written(*rows, block_encoding::plain));
        }
        EXPECT_LE(store->of(window).bytes, store->budget());
        EXPECT_LE(store->bytes(), store->budget());
      }
      store->close(window);
    });
  threads.clear();
  EXPECT_EQ(store->bytes(), 0u);
}

} // namespace
} // namespace headrace::detail
