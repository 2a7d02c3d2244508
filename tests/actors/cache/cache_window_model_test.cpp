#include "headrace/actors/cache/cache_window.hpp"

#include "tests/actors/cache/window_fixture.hpp"
#include "tests/support/test_seed.hpp"

#include <algorithm>
#include <deque>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using outcome = cache_window::outcome;
using test::charge;
using test::fixture;
using test::rows_of;
using test::values;

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
