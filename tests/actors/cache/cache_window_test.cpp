#include "headrace/actors/cache/cache_window.hpp"

#include "tests/support/test_seed.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using outcome = cache_window::outcome;

constexpr size_t overhead = 256; ///< the bytes that a block is charged in addition to its rows

block rows_of(int64_t first, size_t rows) {
  std::vector<int64_t> xs(rows);
  std::iota(xs.begin(), xs.end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

size_t charge(size_t rows) { return 8 * rows + overhead; }

std::vector<int64_t> values(const cache_window::reading& x) {
  const auto rows = x.rows->get();
  if (!rows)
    return {};
  const auto all = rows->columns[0].values<int64_t>();
  return {all.begin() + static_cast<long>(x.from), all.end()};
}

struct fixture {
  explicit fixture(size_t budget, std::optional<duration> wait = {}, duration lease = 5s)
    : store(window_store::make(budget)), window(store, {.wait = wait, .lease = lease}) {}

  outcome append(size_t rows) {
    const auto out = window.append(rows_of(static_cast<int64_t>(window.span().end), rows), now);
    EXPECT_LE(store->bytes(), store->budget());
    return out;
  }
  /// Reads all rows that the window has for the trainer `id`, and hands them out.
  std::vector<int64_t> read_all(const std::string& id) {
    std::vector<int64_t> out;
    while (const auto x = window.read(id))
      for (auto v : values(*x)) out.push_back(v);
    window.handed_out_all(id);
    return out;
  }

  std::shared_ptr<window_store> store;
  cache_window window;
  time_point now{1h};
};

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

// -- against a model ------------------------------------------------------------------------

/// A simple model of a window: it has the row numbers of the blocks, but no rows.
struct model {
  struct trainer {
    uint64_t next = 0, place = 0, skipped = 0, delivered = 0;
    std::optional<time_point> away;
    bool given_up = false;
  };
  size_t budget = 0;
  std::optional<duration> wait;
  duration lease{};
  std::deque<std::pair<uint64_t, size_t>> blocks; ///< first row, number of rows
  uint64_t end = 0;
  std::map<std::string, trainer> trainers;
  std::optional<time_point> waits;

  size_t bytes() const {
    size_t out = 0;
    for (const auto& [first, rows] : blocks) out += charge(rows);
    return out;
  }
  uint64_t first() const { return blocks.empty() ? end : blocks.front().first; }
  uint64_t held(time_point now) const {
    auto out = UINT64_MAX;
    for (const auto& [id, x] : trainers)
      if (wait && !x.given_up && !(x.away && *x.away + lease <= now))
        out = std::min(out, x.place);
    return out;
  }
  outcome append(size_t rows, time_point now) {
    if (charge(rows) > budget)
      return outcome::too_large;
    const auto from = held(now);
    auto rest = blocks;
    auto used = bytes();
    while (used + charge(rows) > budget) {
      if (rest.empty() || rest.front().first + rest.front().second > from) {
        // Blocks that no trainer needs are removed, even if that does not make enough room.
        if (from < end) {
          blocks = rest;
          if (!waits)
            waits = now;
        }
        return outcome::no_room;
      }
      used -= charge(rest.front().second);
      rest.pop_front();
    }
    blocks = rest;
    blocks.emplace_back(end, rows);
    end += rows;
    waits.reset();
    return outcome::appended;
  }
  /// The first row and the number of rows that the trainer is given.
  std::optional<std::pair<uint64_t, size_t>> read(trainer& x) {
    if (x.next >= end)
      return {};
    if (first() > x.next) {
      x.skipped += first() - x.next;
      if (x.place == x.next)
        x.place = first();
      x.next = first();
      if (x.next >= end)
        return {};
    }
    for (const auto& [from, rows] : blocks)
      if (x.next < from + rows) {
        const std::pair out{x.next, from + rows - x.next};
        x.next = from + rows;
        x.delivered += out.second;
        return out;
      }
    return {};
  }
  void look(time_point now) {
    if (!waits || !wait || *waits + *wait > now)
      return;
    const auto oldest = blocks.empty() ? end : blocks.front().first + blocks.front().second;
    for (auto& [id, x] : trainers) x.given_up |= x.place < oldest;
    waits.reset();
  }
};

class against_model {
public:
  explicit against_model(uint64_t seed) : random_(seed) { begin(); }

  void run(size_t operations) {
    for (size_t i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      if (below(5000) == 0)
        begin();
      one();
      compare();
    }
  }

private:
  uint64_t below(uint64_t n) { return random_() % n; }

  void begin() {
    const auto budget = charge(1) + below(40) * 300;
    std::optional<duration> wait;
    if (below(2) == 0)
      wait = seconds_of(1 + below(5));
    const auto lease = seconds_of(1 + below(5));
    real_ = std::make_unique<fixture>(budget, wait, lease);
    model_ = {.budget = budget, .wait = wait, .lease = lease};
    began_.clear();
  }
  static duration seconds_of(uint64_t n) { return std::chrono::seconds{n}; }

  void one() {
    auto& now = real_->now;
    const auto id = "t" + std::to_string(below(5));
    const auto known = model_.trainers.find(id);
    switch (below(10)) {
    case 0: {
      const auto where = below(2) == 0 ? cache_start::oldest : cache_start::newest;
      real_->window.join(id, where);
      const auto [at, fresh] = model_.trainers.try_emplace(id);
      at->second.away.reset();
      if (fresh)
        at->second.next = at->second.place =
          where == cache_start::newest ? model_.end : model_.first();
      if (fresh)
        began_[id] = at->second.next;
      return;
    }
    case 1:
      real_->window.leave(id, now);
      if (known != model_.trainers.end() && !known->second.away)
        known->second.away = now;
      return;
    case 2:
    case 3:
    case 4: {
      const auto rows = 1 + below(below(10) == 0 ? 400 : 30);
      EXPECT_EQ(real_->append(rows), model_.append(rows, now));
      return;
    }
    case 5:
      now += std::chrono::milliseconds{below(1500)};
      real_->window.look(now);
      model_.look(now);
      return;
    default:
      if (known == model_.trainers.end())
        return;
      if (below(3) == 0)
        hand_out(id, known->second);
      else
        read(id, known->second);
    }
  }
  void hand_out(const std::string& id, model::trainer& x) {
    const auto to = x.place + below(x.next - x.place + 1);
    real_->window.handed_out(id, to);
    if (to > x.place) {
      x.place = to;
      x.given_up = false;
    }
  }
  void read(const std::string& id, model::trainer& x) {
    const auto expected = model_.read(x);
    const auto got = real_->window.read(id);
    ASSERT_EQ(got.has_value(), expected.has_value());
    if (!got)
      return;
    EXPECT_EQ(got->first, expected->first);
    const auto all = values(*got);
    ASSERT_EQ(all.size(), expected->second);
    EXPECT_EQ(all.front(), static_cast<int64_t>(got->first));
    EXPECT_EQ(all.back(), static_cast<int64_t>(x.next) - 1);
  }
  void compare() {
    const auto span = real_->window.span();
    EXPECT_EQ(span.first, model_.first());
    EXPECT_EQ(span.end, model_.end);
    EXPECT_EQ(span.bytes, model_.bytes());
    EXPECT_LE(real_->store->bytes(), model_.budget);
    for (const auto& [id, x] : model_.trainers) {
      EXPECT_EQ(real_->window.place_of(id), x.place);
      EXPECT_EQ(real_->window.skipped_by(id), x.skipped);
      EXPECT_EQ(began_.at(id) + x.delivered + x.skipped, x.next);
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<fixture> real_;
  model model_;
  std::map<std::string, uint64_t> began_;
};

TEST(CacheWindow, DoesWhatABruteForceModelDoes) {
  const auto seed = test::test_seed();
  against_model{seed}.run(1'000'000);
}

} // namespace
} // namespace headrace::detail
