#include "headrace/actors/cache/cache_window.hpp"

#include "tests/actors/cache/window_fixture.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using outcome = cache_window::outcome;
using test::charge;
using test::fixture;
using test::overhead;
using test::rows_of;
using test::values;

TEST(CacheWindow, GivesEachTrainerTheSameBlocks) {
  fixture x{4096};
  x.window.join("a", cache_start::oldest);
  x.window.join("b", cache_start::oldest);
  EXPECT_EQ(x.append(10), outcome::appended);
  const auto a = x.window.read("a"), b = x.window.read("b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->rows, b->rows);
  EXPECT_THAT(values(*a), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_FALSE(x.window.read("a"));
}

TEST(CacheWindow, EvictsTheOldestAndCountsWhatATrainerSkips) {
  fixture x{3 * charge(10)};
  x.window.join("slow", cache_start::oldest);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(x.append(10), outcome::appended);
  EXPECT_EQ(x.window.span().first, 20u);
  const auto first = x.window.read("slow");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->first, 20u);
  EXPECT_EQ(x.window.skipped_by("slow"), 20u);
}

TEST(CacheWindow, StartsNewTrainersAtTheOldestOrAtTheNewest) {
  fixture x{4096};
  x.append(10);
  x.window.join("old", cache_start::oldest);
  x.window.join("new", cache_start::newest);
  x.append(5);
  EXPECT_EQ(x.read_all("old").size(), 15u);
  EXPECT_THAT(x.read_all("new"), testing::ElementsAre(10, 11, 12, 13, 14));
}

TEST(CacheWindow, GoesOnWhereATrainerWasThatComesBack) {
  fixture x{4096};
  x.window.join("a", cache_start::oldest);
  x.append(10);
  x.read_all("a");
  x.window.leave("a", x.now);
  x.append(10);
  x.window.join("a", cache_start::newest);
  EXPECT_EQ(x.read_all("a").size(), 10u);
}

TEST(CacheWindow, RefusesAnElementThatIsLargerThanTheBudget) {
  fixture x{1024};
  EXPECT_EQ(x.append(200), outcome::too_large);
  EXPECT_EQ(x.append(90), outcome::appended);
  EXPECT_EQ(x.window.span().end, 90u);
}

TEST(CacheWindow, CutsBlocksAtASixteenthOfTheBudgetAndAt256KiB) {
  fixture small{16 * charge(10)}, large{size_t{1} << 30};
  EXPECT_EQ(small.window.rows_of_a_block(rows_of(0, 100)), 10u);
  EXPECT_LE(charge(large.window.rows_of_a_block(rows_of(0, 1'000'000))), size_t{256} << 10);
  EXPECT_GT(charge(large.window.rows_of_a_block(rows_of(0, 1'000'000))), size_t{255} << 10);
  EXPECT_EQ(fixture{1024}.window.rows_of_a_block(rows_of(0, 100)), 1u);
}

TEST(CacheWindow, WaitsForATrainerUntilItHandsOut) {
  fixture x{2 * charge(10), 10s};
  x.window.join("slow", cache_start::oldest);
  x.append(10);
  x.append(10);
  EXPECT_EQ(x.append(10), outcome::no_room);
  (void)x.window.read("slow"); // the trainer was sent a block
  EXPECT_EQ(x.append(10), outcome::no_room);
  x.window.handed_out("slow", 9);
  EXPECT_EQ(x.append(10), outcome::no_room);
  x.window.handed_out("slow", 10);
  EXPECT_EQ(x.append(10), outcome::appended);
  EXPECT_EQ(x.read_all("slow").size(), 20u);
  EXPECT_EQ(x.window.skipped_by("slow"), 0u);
}

TEST(CacheWindow, SkipsATrainerThatWasWaitedForLongEnough) {
  fixture x{2 * charge(10), 10s};
  x.window.join("slow", cache_start::oldest);
  x.append(10);
  x.append(10);
  EXPECT_EQ(x.append(10), outcome::no_room);
  ASSERT_EQ(x.window.next_deadline(), x.now + 10s);
  x.now += 9s;
  x.window.look(x.now);
  EXPECT_EQ(x.append(10), outcome::no_room);
  x.now += 1s;
  x.window.look(x.now);
  EXPECT_EQ(x.append(10), outcome::appended);
  EXPECT_EQ(x.append(10), outcome::appended) << "it holds nothing before it moves";
  EXPECT_EQ(x.read_all("slow").front(), 20);
  EXPECT_EQ(x.window.skipped_by("slow"), 20u);
  x.append(10);
  x.append(10);
  EXPECT_EQ(x.append(10), outcome::no_room) << "it moved, and is waited for again";
}

TEST(CacheWindow, WaitsForATrainerThatIsAwayForNoLongerThanItsLease) {
  fixture x{2 * charge(10), 1h};
  x.window.join("away", cache_start::oldest);
  x.append(10);
  x.append(10);
  x.window.leave("away", x.now);
  EXPECT_EQ(x.append(10), outcome::no_room);
  ASSERT_EQ(x.window.next_deadline(), x.now + 5s);
  x.now += 5s;
  x.window.look(x.now);
  EXPECT_EQ(x.append(10), outcome::appended);
}

TEST(CacheWindow, HoldsNothingForATrainerThatIsAwayLongerThanItsLeaseThoughItNeedsNoRoom) {
  fixture x{2 * charge(10), 1h};
  x.window.join("away", cache_start::oldest);
  x.append(10);
  x.append(10);
  x.window.leave("away", x.now);
  x.window.look(x.now);
  ASSERT_EQ(x.window.next_deadline(), x.now + 5s);
  cache_window other{x.store, {}};
  EXPECT_EQ(other.append(rows_of(0, 10), x.now), outcome::no_room);
  x.now += 5s;
  x.window.look(x.now);
  EXPECT_EQ(x.window.next_deadline(), std::nullopt);
  EXPECT_EQ(other.append(rows_of(0, 10), x.now), outcome::appended);
}

TEST(CacheWindow, FreesWhatAllHaveBeenHandedWhereNoOthersWillCome) {
  const auto store = window_store::make(100 * charge(10));
  cache_window window{store, {.wait = 1h, .closed = true}};
  const time_point now{1h};
  window.join("fast", cache_start::oldest);
  window.join("slow", cache_start::oldest);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(window.append(rows_of(10 * i, 10), now), outcome::appended);
  while (window.read("fast")) {
  }
  window.handed_out_all("fast");
  window.look(now);
  EXPECT_EQ(store->bytes(), 3 * charge(10)) << "the other one may be away, and come back";
  (void)window.read("slow");
  (void)window.read("slow");
  window.handed_out("slow", 19);
  window.look(now);
  EXPECT_EQ(store->bytes(), 2 * charge(10));
  EXPECT_EQ(window.span().first, 10u);
  window.leave("slow", now);
  window.look(now + 1h);
  EXPECT_EQ(store->bytes(), 2 * charge(10));
  (void)window.read("slow");
  window.handed_out_all("slow");
  window.look(now + 1h);
  EXPECT_EQ(store->bytes(), 0u);
  EXPECT_EQ(window.append(rows_of(30, 10), now + 1h), outcome::appended);
  EXPECT_EQ(values(*window.read("fast")).front(), 30);
}

TEST(CacheWindow, RemembersSoManyTrainersThatAreAway) {
  fixture x{4096};
  x.append(10);
  for (size_t i = 0; i < cache_window::most_away + 10; ++i) {
    const auto id = std::to_string(i);
    x.window.join(id, cache_start::oldest);
    x.now += 1ms;
    x.window.leave(id, x.now);
  }
  EXPECT_EQ(x.window.trainers(), cache_window::most_away);
  EXPECT_FALSE(x.window.read("0")) << "it was forgotten: nothing is repeated for it";
  EXPECT_TRUE(x.window.read("10"));
}

} // namespace
} // namespace headrace::detail
