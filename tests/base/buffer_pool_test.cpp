#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/buffer_pool.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <thread>

namespace headrace::detail {
namespace {

TEST(BufferPool, RoundsUpByAtMostAQuarter) {
  for (auto size = buffer_pool::smallest; size <= buffer_pool::largest; size += 12'345) {
    auto capacity = buffer_pool::rounded(size);
    ASSERT_GE(capacity, size);
    ASSERT_LE(capacity, size + size / 4);
    ASSERT_EQ(buffer_pool::rounded(capacity), capacity);
  }
}

TEST(BufferPool, GivesABlockOutAgainForItsSize) {
  buffer_pool pool{1 << 20};
  const auto block = pool.take(100'000);
  EXPECT_EQ(block.capacity, buffer_pool::rounded(100'000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
  pool.give(block);
  EXPECT_EQ(pool.kept(), block.capacity);
  const auto larger = pool.take(200'000);
  EXPECT_EQ(pool.kept(), block.capacity);
  EXPECT_EQ(pool.take(100'000).data, block.data);
  EXPECT_EQ(pool.kept(), 0u);
  pool.give(block);
  pool.give(larger);
}

TEST(BufferPool, GivesABlockOutForTwoThirdsOfItsSizeAndMore) {
  buffer_pool pool{1 << 20};
  const auto block = pool.take(buffer_pool::rounded(200'000));
  pool.give(block);
  const auto small = pool.take(block.capacity * 2 / 3 - 1'000);
  EXPECT_NE(small.data, block.data);
  const auto fits = pool.take(block.capacity * 2 / 3 + 1'000);
  EXPECT_EQ(fits.data, block.data);
  EXPECT_EQ(fits.capacity, block.capacity);
  pool.give(small);
  pool.give(fits);
}

TEST(BufferPool, KeepsNoMoreThanItsLimit) {
  buffer_pool pool{100'000};
  const auto a = pool.take(60'000), b = pool.take(60'000);
  pool.give(a);
  pool.give(b);
  EXPECT_EQ(pool.kept(), a.capacity);
  pool.trim();
  EXPECT_EQ(pool.kept(), 0u);
}

TEST(BufferPool, DropsBlocksOfTheSizesUsedLongestAgoForThoseInUse) {
  constexpr size_t limit = 1'200'000;
  buffer_pool pool{limit};
  const auto fill = [&](size_t size, size_t count) {
    std::vector<buffer_pool::block> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(pool.take(size));
    for (const auto& x : blocks) pool.give(x);
    return blocks.back();
  };
  const auto first = fill(40'000, 10);
  const auto second = fill(100'000, 2);
  const auto third = fill(300'000, 2); // replaces blocks of the first size
  EXPECT_LE(pool.kept(), limit);
  EXPECT_GT(pool.kept() + first.capacity, limit);
  EXPECT_EQ(pool.take(100'000).data, second.data);
  EXPECT_EQ(pool.take(300'000).data, third.data);
  pool.give(second);
  pool.give(third);
}

TEST(BufferPool, TakesTheLargestAndTheSmallest) {
  buffer_pool pool{size_t{1} << 30};
  for (auto size : {buffer_pool::smallest, buffer_pool::largest}) pool.give(pool.take(size));
  EXPECT_EQ(pool.kept(), buffer_pool::smallest + buffer_pool::largest);
}

TEST(BufferPool, ServesSeveralThreads) {
  buffer_pool pool{1 << 20};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (size_t i = 0; i < 5000; ++i) {
        const auto block = pool.take(buffer_pool::smallest + i % 7 * 30'000);
        auto* const at = static_cast<int*>(block.data);
        *at = t;
        ASSERT_EQ(*at, t);
        pool.give(block);
      }
    });
  for (auto& x : threads) x.join();
  EXPECT_LE(pool.kept(), size_t{1} << 20);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Buffer, ReusesTheMemoryOfALargeOneThatIsGone) {
  const void* first = nullptr;
  {
    mutable_buffer b{1'000'000};
    first = b.data();
    auto frozen = std::move(b).freeze();
  }
  EXPECT_EQ(mutable_buffer{1'000'000}.data(), first);
}
#endif

} // namespace
} // namespace headrace::detail
