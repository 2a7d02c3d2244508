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
  auto capacity = buffer_pool::rounded(100'000);
  auto* block = pool.take(capacity);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
  pool.give(block, capacity);
  EXPECT_EQ(pool.kept(), capacity);
  auto* other = pool.take(buffer_pool::rounded(200'000));
  EXPECT_EQ(pool.kept(), capacity);
  EXPECT_EQ(pool.take(capacity), block);
  EXPECT_EQ(pool.kept(), 0u);
  pool.give(block, capacity);
  pool.give(other, buffer_pool::rounded(200'000));
}

TEST(BufferPool, KeepsNoMoreThanItsLimit) {
  buffer_pool pool{100'000};
  auto capacity = buffer_pool::rounded(60'000);
  auto *a = pool.take(capacity), *b = pool.take(capacity);
  pool.give(a, capacity);
  pool.give(b, capacity);
  EXPECT_EQ(pool.kept(), capacity);
  pool.trim();
  EXPECT_EQ(pool.kept(), 0u);
}

TEST(BufferPool, TakesTheLargestAndTheSmallest) {
  buffer_pool pool{size_t{1} << 30};
  for (auto size : {buffer_pool::smallest, buffer_pool::largest}) {
    auto capacity = buffer_pool::rounded(size);
    pool.give(pool.take(capacity), capacity);
  }
  EXPECT_EQ(pool.kept(), buffer_pool::smallest + buffer_pool::largest);
}

TEST(BufferPool, ServesSeveralThreads) {
  buffer_pool pool{1 << 20};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (size_t i = 0; i < 5000; ++i) {
        auto capacity = buffer_pool::rounded(buffer_pool::smallest + i % 7 * 30'000);
        auto* block = static_cast<int*>(pool.take(capacity));
        *block = t;
        ASSERT_EQ(*block, t);
        pool.give(block, capacity);
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
