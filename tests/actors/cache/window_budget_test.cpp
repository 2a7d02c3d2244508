#include "headrace/actors/cache/cache_window.hpp"

#include "tests/actors/cache/window_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using outcome = cache_window::outcome;
using test::charge;
using test::rows_of;

TEST(CacheWindow, SharesOneBudgetWithOthersWhichEvictTheOldestOfAll) {
  const auto store = window_store::make(4 * charge(10));
  cache_window a{store, {}}, b{store, {}};
  a.join("t", cache_start::oldest);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(a.append(rows_of(10 * i, 10), {}), outcome::appended);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(b.append(rows_of(10 * i, 10), {}), outcome::appended);
  EXPECT_EQ(store->bytes(), store->budget());
  EXPECT_EQ(a.span().first, 30u);
  EXPECT_EQ(b.span().first, 0u);
}

TEST(CacheWindow, IsToldWhenAnotherWindowHoldsLess) {
  const auto store = window_store::make(4 * charge(10));
  cache_window a{store, {.wait = 1h}}, b{store, {}};
  int told = 0;
  b.when_there_is_room([&] { ++told; });
  a.join("t", cache_start::oldest);
  EXPECT_EQ(a.append(rows_of(0, 10), {}), outcome::appended);
  EXPECT_EQ(a.append(rows_of(10, 10), {}), outcome::appended);
  EXPECT_EQ(a.append(rows_of(20, 10), {}), outcome::no_room) << "more than its share";
  EXPECT_EQ(b.append(rows_of(0, 10), {}), outcome::appended);
  EXPECT_EQ(b.append(rows_of(10, 100), {}), outcome::no_room);
  EXPECT_EQ(told, 0);
  (void)a.read("t");
  a.handed_out("t", 10);
  a.look({});
  EXPECT_EQ(told, 1);
}

TEST(CacheWindow, GivesItsShareToAnotherWhenItWaitsNoLongerThanForItsOwnRows) {
  const auto store = window_store::make(4 * charge(10));
  cache_window a{store, {.wait = 6s}};
  time_point now{1h};
  int told = 0;
  a.when_there_is_room([&] { ++told; });
  a.join("slow", cache_start::oldest);
  a.join("fast", cache_start::oldest);
  // All have been handed the first block, which is too small for what the other window needs.
  ASSERT_EQ(a.append(rows_of(0, 1), now), outcome::appended);
  for (const auto* id : {"slow", "fast"}) {
    ASSERT_TRUE(a.read(id));
    a.handed_out_all(id);
  }
  for (int i = 0; i < 3; ++i) ASSERT_EQ(a.append(rows_of(1 + 10 * i, 10), now), outcome::appended);
  a.look(now);
  EXPECT_FALSE(a.next_deadline());
  cache_window b{store, {}};
  int has_room = 0;
  b.when_there_is_room([&] { ++has_room; });
  b.join("t", cache_start::oldest);
  EXPECT_EQ(b.append(rows_of(0, 11), now), outcome::no_room);
  EXPECT_EQ(told, 1) << "it takes more than its share";
  EXPECT_EQ(b.append(rows_of(0, 11), now), outcome::no_room);
  EXPECT_EQ(told, 1);
  a.look(now);
  EXPECT_EQ(a.next_deadline(), now + 6s);
  a.look(now + 5s);
  EXPECT_EQ(has_room, 0);
  a.look(now + 6s);
  EXPECT_EQ(has_room, 1);
  EXPECT_EQ(b.append(rows_of(0, 11), now + 6s), outcome::appended);
  a.look(now + 12s);
  EXPECT_FALSE(a.next_deadline()) << "nobody lacks room";
}

TEST(CacheWindow, KeepsItsRowsForASlowTrainerIfTheOtherNeedsNoRoomAnyMore) {
  const auto store = window_store::make(4 * charge(10));
  cache_window a{store, {.wait = 6s}};
  const time_point now{1h};
  a.join("slow", cache_start::oldest);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(a.append(rows_of(10 * i, 10), now), outcome::appended);
  cache_window b{store, {}};
  b.join("t", cache_start::oldest);
  EXPECT_EQ(b.append(rows_of(0, 10), now), outcome::no_room);
  a.look(now);
  b.needs_no_room();
  a.look(now + 7s);
  const auto first = a.read("slow");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->first, 0u);
  EXPECT_EQ(a.skipped_by("slow"), 0u);
}

TEST(CacheWindow, MakesRoomForARowThatIsLargerThanAShare) {
  const auto store = window_store::make(4 * charge(10));
  cache_window a{store, {.wait = 6s}};
  const time_point now{1h};
  a.join("slow", cache_start::oldest);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(a.append(rows_of(10 * i, 10), now), outcome::appended);
  cache_window b{store, {}};
  const auto large = rows_of(0, 100);
  ASSERT_GT(window_store::charge_of(large), store->budget() / 2);
  EXPECT_EQ(b.append(large, now), outcome::no_room);
  a.look(now);
  a.look(now + 6s);
  EXPECT_EQ(b.append(large, now + 6s), outcome::appended);
}

TEST(CacheWindow, KeepsWhatWasEncodedWithinTheBudget) {
  const auto store = window_store::make(4 * charge(1000));
  cache_window a{store, {}};
  a.join("t", cache_start::oldest);
  ASSERT_EQ(a.append(rows_of(0, 1000), {}), outcome::appended);
  const auto x = a.read("t");
  ASSERT_TRUE(x);
  const auto rows = *x->rows->get();
  const auto plain = x->rows->written(rows, block_encoding::plain);
  EXPECT_EQ(x->rows->written(rows, block_encoding::plain), plain);
  EXPECT_LT(plain->own_bytes, 400u) << "its columns are those of the block";
  const auto packed = x->rows->written(rows, block_encoding::snappy);
  EXPECT_EQ(x->rows->written(rows, block_encoding::snappy), packed);
  EXPECT_EQ(a.span().encoded, 2u);
  EXPECT_EQ(store->bytes(), charge(1000) + plain->own_bytes + packed->own_bytes);
  for (int i = 1; i < 5; ++i) {
    ASSERT_EQ(a.append(rows_of(1000 * i, 1000), {}), outcome::appended);
    EXPECT_LE(store->bytes(), store->budget());
  }
  EXPECT_FALSE(x->rows->get());
}

} // namespace
} // namespace headrace::detail
