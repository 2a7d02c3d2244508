#include "tests/actors/stream/stream_world.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using step = stream_world::step;

int64_t task_of(int64_t value) { return value / 1'000'000'000; }

/// What each trainer was given of each task, by those of its consumers that are gone, as far as
/// they said so, and by the one that is there.
std::map<std::pair<std::string, int64_t>, std::vector<int64_t>> deliveries(const stream_world& w) {
  std::map<std::pair<std::string, int64_t>, std::vector<int64_t>> out;
  for (const auto& [trainer, all] : w.gone_handed_out)
    for (auto x : all) out[{trainer, task_of(x)}].push_back(x);
  for (const auto& [id, c] : w.consumers)
    for (const auto& [t, p] : c.pipes)
      for (auto x : p.handed_out) out[{c.trainer, static_cast<int64_t>(t)}].push_back(x);
  return out;
}

/// Judges a world in which each trainer has at most one consumer at a time. Empty: all is well.
std::string rising_fault(const stream_world& w) {
  for (const auto& [whose, all] : deliveries(w))
    for (size_t i = 1; i < all.size(); ++i)
      if (all[i] <= all[i - 1])
        return fmt::format("trainer {} was given {} after {}", whose.first, all[i], all[i - 1]);
  return {};
}

std::string budget_fault(size_t bytes, size_t budget) {
  return bytes <= budget ? "" : fmt::format("{} bytes of {}", bytes, budget);
}
std::string budget_fault(const stream_world& w) {
  return budget_fault(w.windows->bytes(), w.windows->budget());
}

/// What a trainer was given, as far as its task knows it, what it skipped and what it lags behind
/// are together all that was made since it came.
std::string count_fault(const stream_world& w) {
  std::map<std::pair<std::string, size_t>, size_t> given;
  for (const auto& [trainer, all] : w.gone_handed_out)
    for (auto x : all) ++given[{trainer, static_cast<size_t>(task_of(x))}];
  for (const auto& [id, c] : w.consumers)
    for (const auto& [t, p] : c.pipes) given[{c.trainer, t}] += p.known_handed_out;
  for (size_t t = 0; t < w.tasks.size(); ++t) {
    const auto window = w.tasks[t].core->numbers().window;
    if (!window || w.tasks[t].lost)
      continue;
    for (const auto& x : window->trainers) {
      const auto began = w.tasks[t].began.at(x.id);
      const auto passed = given[{x.id, t}] + x.skipped;
      if (began + passed + x.lag != window->end)
        return fmt::format("trainer {} began at {} of task {}, was given {}, skipped {}, and lags "
                           "{} behind {}",
                           x.id, began, t, given[{x.id, t}], x.skipped, x.lag, window->end);
    }
  }
  return {};
}

class window_schedule {
public:
  /// `deaths`: trainers leave or end without a word, and others come in their place.
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

  /// A trainer that is not there, perhaps again.
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
      // A worker that does not come back, and one in its place.
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

  /// Everybody reads all that is there.
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

// -- the judge can fail -------------------------------------------------------------------------

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

// -- single cases -------------------------------------------------------------------------------

TEST(WindowOutput, GivesEachTrainerAllElements) {
  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a"), b = w.come("b");
  w.settle();
  for (int i = 0; i < 10; ++i) w.produce(0, 7);
  for (auto id : {a, b})
    for (int64_t i = 0; i < 70; ++i) ASSERT_EQ(w.next(id), step::element);
  for (auto id : {a, b}) {
    const auto& got = w.consumers.at(id).pipes.at(0).handed_out;
    EXPECT_EQ(got.front(), 0);
    EXPECT_EQ(got.back(), 69);
  }
  EXPECT_EQ(rising_fault(w), "");
}

TEST(WindowOutput, GivesIteratorsOfOneTrainerDifferentElements) {
  stream_world w{{.tasks = 1, .stream_bytes = 400, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a"), b = w.come("a");
  w.settle();
  for (int i = 0; i < 20; ++i) w.produce(0, 10);
  for (int i = 0; i < 100; ++i)
    for (auto id : {a, b}) ASSERT_EQ(w.next(id), step::element);
  const auto all = w.all_handed_out();
  EXPECT_EQ(all.size(), 200u);
  EXPECT_TRUE(std::ranges::all_of(all, [](const auto& x) { return x.second == 1; }));
}

TEST(WindowOutput, GivesWhatATrainerLeftToItsNextIterator) {
  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a");
  w.settle();
  w.produce(0, 20);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w.next(a), step::element);
  w.go(a);
  w.settle();
  const auto b = w.come("a");
  for (int i = 5; i < 20; ++i) ASSERT_EQ(w.next(b), step::element);
  EXPECT_EQ(w.consumers.at(b).pipes.at(0).handed_out.front(), 5);
  EXPECT_EQ(count_fault(w) + rising_fault(w), "");
}

TEST(WindowOutput, ProducesForTheForemostAlone) {
  stream_world w{{.tasks = 1, .stream_bytes = 100, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a");
  (void)w.come("b");
  w.settle();
  for (int i = 0; i < 4; ++i) w.produce(0, 10);
  w.settle();
  EXPECT_GT(w.tasks[0].outstanding, 0u) << "nobody has room for more";
  for (int i = 0; i < 40; ++i) ASSERT_EQ(w.next(a), step::element);
  w.settle();
  EXPECT_EQ(w.tasks[0].outstanding, 0u);
}

/// Everybody takes what there is, until nobody is given more.
void read_in_turn(stream_world& w, const std::vector<uint64_t>& ids) {
  for (int quiet = 0; quiet < 10;) {
    bool moved = w.settle() != 0;
    for (auto id : ids) {
      moved |= w.take(id) == step::element;
      w.look(id);
    }
    if (!moved)
      w.pass(100ms);
    quiet = moved ? 0 : quiet + 1;
  }
}

/// A finite dataset for two trainers.
class WholeEpoch : public testing::Test {
protected:
  void make(int blocks) {
    for (int i = 0; i < blocks; ++i) w.produce(0, 10);
    w.exhaust(0);
  }
  stream_world w{{.tasks = 1, .cache = cache_terms{60s, 2}, .cache_bytes = 100'000}};
};

TEST_F(WholeEpoch, BeginsWhenAllTrainersHaveCome) {
  const auto a = w.come("a");
  w.settle();
  w.produce(0, 10);
  w.settle();
  EXPECT_EQ(w.take(a), step::waits);
  const auto b = w.come("b");
  w.settle();
  EXPECT_EQ(w.next(a), step::element);
  EXPECT_EQ(w.next(b), step::element);
}

TEST_F(WholeEpoch, GivesEachTrainerAllElementsOnceAndThenTheEnd) {
  const auto a = w.come("a"), b = w.come("b");
  w.settle();
  make(30);
  read_in_turn(w, {a, b});
  for (auto id : {a, b}) {
    EXPECT_EQ(w.consumers.at(id).taken, 300u);
    EXPECT_TRUE(w.consumers.at(id).at_end && w.consumers.at(id).how.ok());
  }
  EXPECT_EQ(rising_fault(w), "");
}

TEST_F(WholeEpoch, RefusesATrainerThatIsNotExpected) {
  const auto a = w.come("a");
  (void)w.come("b");
  w.settle();
  const auto c = w.come("c");
  EXPECT_EQ(w.next(c), step::over);
  EXPECT_THAT(w.consumers.at(c).how.message(), testing::HasSubstr("expected_trainers"));
  make(1);
  EXPECT_EQ(w.next(a), step::element);
}

TEST_F(WholeEpoch, SharesTheElementsOfATrainerAmongItsIterators) {
  const auto a = w.come("a"), b = w.come("b"), b2 = w.come("b");
  w.settle();
  make(30);
  read_in_turn(w, {a, b, b2});
  EXPECT_EQ(w.consumers.at(a).taken, 300u);
  EXPECT_EQ(w.consumers.at(b).taken + w.consumers.at(b2).taken, 300u);
  for (const auto& [x, n] : w.all_handed_out()) EXPECT_EQ(n, 2u) << x;
}

TEST_F(WholeEpoch, HoldsTheCacheForTheSlowerTrainer) {
  stream_world small{
    {.tasks = 1, .stream_bytes = 400, .cache = cache_terms{60s, 2}, .cache_bytes = 3000}};
  const auto a = small.come("a"), b = small.come("b");
  small.settle();
  for (int i = 0; i < 30; ++i) small.produce(0, 10);
  small.exhaust(0);
  size_t n = 0;
  while (small.take(a) == step::element || small.settle() != 0) {
    small.look(a);
    n = small.consumers.at(a).taken;
  }
  EXPECT_LT(n, 300u) << "it waits";
  read_in_turn(small, {a, b});
  EXPECT_EQ(small.consumers.at(a).taken, 300u);
  EXPECT_EQ(small.consumers.at(b).taken, 300u);
}

TEST(WindowOutput, WaitsNoLongerThanItsLeaseForAnIteratorThatDied) {
  stream_world w{{.tasks = 1,
                  .stream_bytes = 400,
                  .cache = cache_terms{std::chrono::hours{1}, 0},
                  .cache_bytes = 3000}};
  const auto died = w.come("a"), other = w.come("b");
  w.settle();
  for (int i = 0; i < 30; ++i) w.produce(0, 10);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w.next(died), step::element);
  w.die(died);
  const auto again = w.come("a");
  read_in_turn(w, {again, other});
  EXPECT_LT(w.consumers.at(other).taken, 300u) << "it may come back";
  w.pass(6s);
  read_in_turn(w, {again, other});
  EXPECT_EQ(w.consumers.at(other).taken, 300u);
  EXPECT_EQ(rising_fault(w), "");
}

TEST(WindowOutput, HasEachBlockEncodedOnceHoweverManyTrainersReadIt) {
  for (uint64_t k : {1, 8}) {
    window_output out{window_store::make(1 << 20), {}};
    for (uint64_t i = 1; i <= k; ++i) {
      const consumer_id who{i};
      ASSERT_TRUE(out.opened(who, {.consumer = who, .trainer = std::to_string(i)}));
      out.grant(who, 0, 1 << 20, 1 << 20, true);
    }
    uint64_t sent = 0;
    for (int i = 0; i < 5; ++i) {
      out.produced(numbers(100 * i, 100));
      for (const auto& x : out.deal_at({}, false))
        if (const auto* rows = std::get_if<dealer::send_block>(&x)) {
          ++sent;
          for (auto encoding : {block_encoding::plain, block_encoding::snappy})
            EXPECT_NE(rows->forms->written(rows->rows, encoding), nullptr);
        }
    }
    EXPECT_EQ(sent, 5 * k);
    EXPECT_EQ(out.report()->blocks, 5u);
    EXPECT_EQ(out.report()->encoded, 10u);
  }
}

// -- errors -------------------------------------------------------------------------------------

class ErrorsOfAWindow : public testing::Test {
protected:
  static constexpr consumer_id a{1}, b{2};
  void open(consumer_id who, const char* trainer) {
    ASSERT_TRUE(out.opened(who, {.consumer = who, .trainer = trainer}));
    out.grant(who, 0, 1 << 20, 1 << 20, true);
  }
  /// What each is sent: values, and -1 for an error.
  std::map<consumer_id, std::vector<int64_t>> deal() {
    std::map<consumer_id, std::vector<int64_t>> sent;
    for (const auto& x : out.deal_at({}, false))
      if (const auto* rows = std::get_if<dealer::send_block>(&x))
        for (size_t i = 0; i < rows->rows.rows; ++i) {
          const auto* why = rows->rows.error_at(i);
          if (why != nullptr)
            said = why->message();
          sent[rows->to].push_back(why ? -1 : rows->rows.columns[0].values<int64_t>()[i]);
        }
    return sent;
  }
  std::string said;
  window_output out{window_store::make(20'000), {}};
};

TEST_F(ErrorsOfAWindow, GoToTheTrainerThatMetThemAndAreNotKept) {
  open(a, "a");
  auto rows = numbers(0, 5);
  rows.errors.push_back({2, aborted("bad")});
  out.produced(rows);
  EXPECT_THAT(deal()[a], testing::ElementsAre(0, 1, -1, 3, 4));
  EXPECT_EQ(said, "bad");
  open(b, "b");
  EXPECT_THAT(deal()[b], testing::ElementsAre(0, 1, 3, 4));
  out.produced(numbers(5, 1));
  EXPECT_EQ(deal().size(), 2u) << "they do not end the cache";
}

TEST_F(ErrorsOfAWindow, SayThatAnElementIsLargerThanTheCache) {
  open(a, "a");
  block large;
  large.rows = 1;
  large.columns.push_back(
    column::dense(dtype::int64, shape{{5000}}, 1,
                  buffer::copy_of(std::vector<std::byte>(40'000).data(), 40'000)));
  out.produced(large);
  EXPECT_THAT(deal()[a], testing::ElementsAre(-1));
  EXPECT_THAT(said,
              testing::HasSubstr(
                "40000 bytes is larger than the worker's cross-trainer cache, which has 20000"));
  EXPECT_EQ(out.report()->end, 0u);
}

TEST_F(ErrorsOfAWindow, NameAReaderThatSaysNoTrainer) {
  const auto how = out.opened(a, {.consumer = a});
  EXPECT_THAT(how.message(), testing::HasSubstr("trainer_id"));
}

} // namespace
} // namespace headrace
