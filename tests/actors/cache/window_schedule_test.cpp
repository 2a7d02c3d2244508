#include "tests/actors/cache/window_judge.hpp"
#include "tests/support/test_seed.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using namespace test;
using step = stream_world::step;

class window_schedule {
public:
  /// `deaths`: trainers leave or are killed, and others take their places.
  window_schedule(uint64_t seed, stream_world::options o, bool deaths)
    : random_(seed), world_(o), deaths_(deaths) {}

  void run(size_t events) {
    come();
    for (size_t i = 0; i < events && !testing::Test::HasFailure(); ++i) {
      one_event();
      ASSERT_EQ(budget_fault(world_), "");
      if (i % 500 == 499) {
        ASSERT_EQ(rising_fault(world_) + count_fault(world_), "");
      }
    }
    if (!testing::Test::HasFailure())
      finish();
  }
  uint64_t skipped() const { return skipped_; }

private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  /// A trainer that is not present joins, for the first time or again.
  void come() {
    const auto name = "t" + std::to_string(below(5));
    for (const auto& [id, c] : world_.consumers)
      if (c.trainer == name)
        return;
    world_.come(name, chance(70) ? cache_start::oldest : cache_start::newest);
  }
  void produce(size_t t) {
    auto& x = world_.tasks[t];
    if (x.runs && !x.lost && !x.over && !x.left && x.outstanding < 2000)
      world_.produce(t, below(40) + 1);
  }
  void read(uint64_t id, stream_world::consumer& c) {
    if (stalled_.contains(id))
      return;
    for (auto n = below(12) + 1; n > 0 && !c.at_end; --n)
      if (world_.take(id) != step::element)
        return;
  }

  void one_event() {
    auto& w = world_;
    if (w.consumers.empty())
      return come();
    const auto t = below(w.tasks.size());
    auto at = w.consumers.begin();
    std::advance(at, static_cast<long>(below(w.consumers.size())));
    const auto id = at->first;
    const auto kind = below(1000);
    if (kind < 200)
      produce(t);
    else if (kind < 400)
      w.deliver_up(id, t);
    else if (kind < 620)
      w.deliver_down(id, t);
    else if (kind < 880)
      read(id, at->second);
    else if (kind < 900)
      at->second.woken ? w.look(id) : void();
    else if (kind < 910)
      stalled_.erase(id) == 0 ? void(stalled_.insert(id)) : void();
    else if (kind < 930)
      w.pass(std::chrono::milliseconds{chance(10) ? below(4000) : below(10)});
    else if (kind < 945)
      w.deliver_news(id);
    else if (kind < 960)
      w.deliver_names(t);
    else if (kind < 980)
      w.connect(id, t);
    else
      fault(id, t);
    leave_if_failed(id);
  }

  void fault(uint64_t id, size_t t) {
    auto& w = world_;
    switch (below(12)) {
    case 0:
    case 1:
    case 2: return w.cut(id, t);
    case 3:
    case 4:
    case 5: return come();
    case 6: return deaths_ ? w.die(id) : void();
    case 7: return deaths_ ? w.go(id) : void();
    case 8: return w.crash_runner(t);
    case 9: return w.crash_task(t);
    case 10: return deaths_ ? w.silence(id) : void();
    default:
      // A worker is lost for good, and another one takes its place.
      if (w.tasks.size() < 6 && chance(20)) {
        w.add_task();
        w.lose_task(t, true);
      }
    }
  }

  void leave_if_failed(uint64_t id) {
    auto& w = world_;
    const auto at = w.consumers.find(id);
    if (at == w.consumers.end() || !at->second.at_end)
      return;
    EXPECT_TRUE(at->second.how.code() == status_code::aborted && at->second.silent)
      << to_string(at->second.how);
    w.go(id);
  }

  /// All trainers read the remaining elements.
  void finish() {
    auto& w = world_;
    stalled_.clear();
    for (int quiet = 0; quiet < 60 && !testing::Test::HasFailure();) {
      bool moved = w.settle() != 0;
      std::vector<uint64_t> ids;
      for (const auto& [id, c] : w.consumers) ids.push_back(id);
      for (auto id : ids) {
        while (w.take(id) == step::element) moved = true;
        w.look(id);
        leave_if_failed(id);
      }
      if (!moved)
        w.pass(200ms);
      quiet = moved ? 0 : quiet + 1;
    }
    EXPECT_EQ(rising_fault(w), "");
    EXPECT_EQ(count_fault(w), "");
    for (size_t t = 0; t < w.tasks.size(); ++t)
      if (const auto window = w.tasks[t].core->numbers().window; window && !w.tasks[t].lost)
        for (const auto& x : window->trainers) {
          skipped_ += x.skipped;
          EXPECT_TRUE(x.streams == 0 || x.lag == 0) << x.id << " has not all of task " << t;
        }
  }

  std::mt19937_64 random_;
  stream_world world_;
  bool deaths_;
  std::set<uint64_t> stalled_;
  uint64_t skipped_ = 0;
};

uint64_t run_schedules(stream_world::options o, size_t schedules, size_t events,
                       bool deaths = true) {
  const auto base = test::test_seed();
  uint64_t skipped = 0;
  for (size_t i = 0; i < schedules && !testing::Test::HasFailure(); ++i) {
    const auto* name = testing::UnitTest::GetInstance()->current_test_info()->name();
    SCOPED_TRACE(testing::Message()
                 << "again: HEADRACE_TEST_SEED=" << base + i
                 << " build/tests/actors_test --gtest_filter=WindowSchedule." << name);
    window_schedule one{base + i, o, deaths};
    one.run(events);
    skipped += one.skipped();
  }
  return skipped;
}

TEST(WindowSchedule, CountsWhatSlowTrainersSkip) {
  EXPECT_GT(run_schedules({.tasks = 2, .cache = cache_terms{}, .cache_bytes = 12'000}, 40, 6'000),
            0u);
}
TEST(WindowSchedule, CountsWhatSlowTrainersSkipOfATinyCache) {
  EXPECT_GT(
    run_schedules({.tasks = 2, .stream_bytes = 300, .cache = cache_terms{}, .cache_bytes = 1500},
                  40, 6'000),
    0u);
}
TEST(WindowSchedule, WaitsForTrainersAndSkipsThemAtTheLimit) {
  EXPECT_GT(
    run_schedules({.tasks = 2, .cache = cache_terms{2s, 0}, .cache_bytes = 12'000}, 40, 6'000), 0u);
}
TEST(WindowSchedule, SkipsNothingInACacheThatHoldsAll) {
  EXPECT_EQ(run_schedules(
              {.tasks = 1, .stream_bytes = 1 << 20, .cache = cache_terms{}, .cache_bytes = 1 << 30},
              20, 5'000, false),
            0u);
}

// -- the rules of window_judge.hpp report violations ---------------------------------------------

class ReadWindow : public testing::Test {
protected:
  ReadWindow() {
    w.settle();
    w.produce(0, 5);
    while (w.take(id) == step::element || w.settle() != 0) w.look(id);
  }
  std::vector<int64_t>& handed_out() { return w.consumers.at(id).pipes.at(0).handed_out; }

  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 100'000}};
  uint64_t id = w.come("a");
};

TEST_F(ReadWindow, IsWell) {
  EXPECT_EQ(handed_out().size(), 5u);
  EXPECT_EQ(rising_fault(w) + count_fault(w) + budget_fault(w), "");
}
TEST_F(ReadWindow, IsSeenToRepeatAnElement) {
  handed_out().push_back(4);
  EXPECT_EQ(rising_fault(w), "trainer a was given 4 after 4");
}
TEST_F(ReadWindow, IsSeenToLackAnElement) {
  --w.consumers.at(id).pipes.at(0).known_handed_out;
  EXPECT_EQ(count_fault(w),
            "trainer a began at 0 of task 0, was given 4, skipped 0, and lags 0 behind 5");
}
TEST_F(ReadWindow, IsSeenToHoldTooMuch) {
  EXPECT_EQ(budget_fault(w.windows->bytes(), w.windows->bytes() - 1), "296 bytes of 295");
}

} // namespace
} // namespace headrace::detail
