#include "tests/actors/stream/stream_world.hpp"
#include "tests/support/test_seed.hpp"

#include <random>

namespace headrace::detail {
namespace {

using step = stream_world::step;

/// Random events in any order: production, single deliveries, cuts, refusals, damage, crashes,
/// trainers that join, pause, leave, stop sending and die, tasks that leave and are lost. At the
/// end all trainers read the remaining elements.
class schedule {
public:
  schedule(uint64_t seed, stream_world::options o) : random_(seed), world_(o) {}

  void run(size_t events, int64_t rows_a_task) {
    world_.come();
    for (size_t i = 0; i < events && !::testing::Test::HasFailure(); ++i) {
      one_event(rows_a_task);
      if (i % 1000 == 999)
        expect_quiet_while_trainers_sleep();
    }
    if (!::testing::Test::HasFailure())
      finish(rows_a_task);
  }
  const stream_world& world() const { return world_; }

private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  void one_event(int64_t rows_a_task) {
    auto& w = world_;
    const auto t = below(w.tasks.size());
    auto at = w.consumers.begin();
    std::advance(at, static_cast<long>(below(w.consumers.size())));
    const auto id = at->first;
    const auto kind = below(1000);
    if (kind < 150)
      produce(t, rows_a_task);
    else if (kind < 390)
      w.deliver_up(id, t);
    else if (kind < 630)
      w.deliver_down(id, t);
    else if (kind < 900)
      read(id, at->second);
    else if (kind < 920)
      at->second.woken ? w.look(id) : void();
    else if (kind < 930)
      asleep_.erase(id) == 0 ? void(asleep_.insert(id)) : void();
    else if (kind < 940)
      w.pass(std::chrono::milliseconds{chance(10) ? below(2000) : below(10)});
    else if (kind < 955)
      w.deliver_news(id);
    else if (kind < 970)
      w.deliver_names(t);
    else if (kind < 985)
      w.connect(id, t);
    else
      fault(id, t);
    leave_if_failed(id);
  }

  void read(uint64_t id, stream_world::consumer& c) {
    if (!asleep_.contains(id))
      for (auto n = below(8) + 1; n > 0 && !c.at_end; --n)
        if (take(id) != step::element)
          break;
  }
  step take(uint64_t id) {
    const auto out = world_.take(id);
    if (out == step::waits)
      blocked_.insert(id);
    else
      blocked_.erase(id);
    return out;
  }

  /// Lets the consumer leave if its trainer has read an error.
  void leave_if_failed(uint64_t id) {
    auto& w = world_;
    const auto at = w.consumers.find(id);
    if (at == w.consumers.end() || !at->second.at_end || at->second.how.ok())
      return;
    const auto code = at->second.how.code();
    EXPECT_TRUE((code == status_code::aborted && at->second.silent)
                || (code == status_code::data_loss && damaged_.contains(id)))
      << to_string(at->second.how);
    w.go(id);
    if (w.consumers.empty())
      w.come();
  }

  void fault(uint64_t id, size_t t) {
    auto& w = world_;
    auto& p = w.consumers.at(id).pipes.at(t);
    const bool others = w.options_.shared && w.consumers.size() > 1;
    switch (below(15)) {
    case 0:
    case 1:
    case 2: return w.cut(id, t);
    case 3: p.refused = !p.refused; return;
    case 4: return w.damage_up(id, t);
    case 5:
    case 6: return w.options_.shared && w.consumers.size() < 5 ? void(w.come()) : void();
    case 7:
      if (others) {
        // Before the consumer dies, its actor may have been stopped while its trainer read on.
        if (chance(50))
          while (take(id) == step::element) {
          }
        chance(50) ? w.die_in_next(id) : w.die(id);
      }
      return;
    case 8: return others ? w.go(id) : void();
    case 9: return w.crash_runner(t);
    case 10: return w.crash_task(t);
    case 11: return w.tasks[t].away ? w.find_task(t) : w.lose_task(t, false);
    case 12: return others && chance(50) ? w.silence(id) : void();
    case 13:
      if (others && chance(50) && !p.down.empty()) {
        damaged_.insert(id);
        w.deliver_down(id, t, true);
      }
      return;
    default: // rare, so that the tasks exist for most of a schedule
      if (w.tasks.size() > 1 && t != 0 && chance(10))
        chance(50) ? w.leave_task(t) : w.lose_task(t, true);
    }
  }

  void produce(size_t t, int64_t rows_a_task) {
    auto& task = world_.tasks[t];
    if (!task.runs || task.lost || task.over || task.exhausted || task.outstanding >= 2000)
      return;
    if (task.produced >= rows_a_task)
      return world_.exhaust(t);
    world_.produce(t, below(40) + 1);
  }

  void expect_quiet_while_trainers_sleep() {
    EXPECT_LT(world_.settle(20'000), 20'000u) << "messages without end while no trainer moves";
  }

  void finish(int64_t rows_a_task) {
    auto& w = world_;
    for (size_t t = 0; t < w.tasks.size(); ++t) w.find_task(t);
    for (auto& [id, c] : w.consumers)
      for (auto& [t, p] : c.pipes) p.refused = false;
    // Consumers that send nothing are given up, and their trainers read an error that states this.
    std::vector<uint64_t> silent;
    for (const auto& [id, c] : w.consumers)
      if (c.silent)
        silent.push_back(id);
    for (int i = 0; i < 200 && !silent.empty(); ++i) {
      w.settle();
      w.pass(std::chrono::milliseconds{200});
      for (auto id : silent)
        while (take(id) == step::element) {
        }
      std::erase_if(silent, [&](auto id) {
        const bool over = w.consumers.at(id).at_end;
        leave_if_failed(id);
        return over;
      });
    }
    EXPECT_TRUE(silent.empty()) << "a consumer was given up and did not read so";
    // A trainer that pauses for long does not keep the other trainers from the end, because its
    // consumer gives unread elements back. But a consumer that received a message that cannot be
    // decoded gives nothing back before its trainer has read the error.
    std::set<uint64_t> paused;
    if (w.options_.shared)
      for (const auto& [id, c] : w.consumers)
        if (paused.size() + 1 < w.consumers.size() && !damaged_.contains(id) && chance(30))
          paused.insert(id);
    for (size_t idle = 0; idle < 100 && !::testing::Test::HasFailure();) {
      bool moved = w.settle() != 0;
      for (size_t t = 0; t < w.tasks.size(); ++t) {
        moved |= w.tasks[t].runs && !w.tasks[t].exhausted && !w.tasks[t].lost && !w.tasks[t].over;
        produce(t, rows_a_task);
      }
      for (auto& [id, c] : w.consumers)
        // A trainer that is blocked in `next` takes an element before it pauses.
        while (!c.at_end && (!paused.contains(id) || blocked_.contains(id)) && chance(80)) {
          const auto s = take(id);
          moved |= s == step::element;
          if (s != step::element)
            break;
        }
      std::vector<uint64_t> failed;
      for (const auto& [id, c] : w.consumers)
        if (c.at_end && !c.how.ok())
          failed.push_back(id);
      for (auto id : failed) leave_if_failed(id);
      if (std::ranges::all_of(w.consumers, [&](const auto& x) {
            return x.second.at_end || paused.contains(x.first);
          }))
        paused.clear();
      if (!moved)
        w.pass(std::chrono::milliseconds{200});
      idle = moved ? 0 : idle + 1;
      if (std::ranges::all_of(w.consumers, [](const auto& x) { return x.second.at_end; }))
        break;
    }
    EXPECT_TRUE(paused.empty()) << "a trainer that paused kept others from the end";
    for (auto& [id, c] : w.consumers)
      EXPECT_TRUE(c.at_end || paused.contains(id)) << "consumer " << id << " never heard the end";
    w.expect_each_element_once();
  }

  std::mt19937_64 random_;
  stream_world world_;
  std::set<uint64_t> asleep_, damaged_;
  std::set<uint64_t> blocked_; ///< the consumers whose trainers wait for an element
};

void run_schedules(stream_world::options o, size_t schedules, size_t events) {
  const auto base = test::test_seed();
  for (size_t i = 0; i < schedules; ++i) {
    const auto seed = base + i;
    const auto* name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    SCOPED_TRACE(::testing::Message()
                 << "again: HEADRACE_TEST_SEED=" << seed
                 << " build/tests/actors_test --gtest_filter=StreamSchedule." << name);
    schedule{seed, o}.run(events, static_cast<int64_t>(events / o.tasks));
    if (::testing::Test::HasFailure())
      return;
  }
}

TEST(StreamSchedule, HandsEachElementOutOnceOverASharedTask) {
  run_schedules({.tasks = 1}, 60, 5'000);
}
TEST(StreamSchedule, HandsEachElementOutOnceOverSharedTasks) {
  run_schedules({.tasks = 3}, 40, 10'000);
}
TEST(StreamSchedule, HandsOutAgainOnlyWhatWasNotReportedAtLeastOnce) {
  run_schedules({.tasks = 2, .guarantee = delivery_guarantee::at_least_once}, 40, 5'000);
}
TEST(StreamSchedule, HandsEachElementOutOnceUnderTinyCredit) {
  run_schedules({.tasks = 2, .most_elements = 2, .stream_bytes = 24}, 40, 5'000);
}
TEST(StreamSchedule, HandsEachElementOutOnceToASingleConsumer) {
  run_schedules({.tasks = 2, .shared = false}, 20, 5'000);
}

TEST(StreamWorld, KeepsTheOrderOfATaskForASingleConsumer) {
  stream_world w{{.tasks = 2, .shared = false}};
  const auto id = w.come();
  w.settle();
  for (int i = 0; i < 100; ++i)
    for (size_t t = 0; t < 2; ++t) w.produce(t, 7);
  w.exhaust(0);
  w.exhaust(1);
  for (int i = 0; w.next(id) == step::element; ++i) {
    if (i % 50 == 0) {
      w.cut(id, i % 100 / 50);
      w.connect(id, i % 100 / 50);
    }
  }
  for (auto& [t, p] : w.consumers.at(id).pipes)
    EXPECT_TRUE(std::is_sorted(p.handed_out.begin(), p.handed_out.end()));
  w.expect_each_element_once();
}

TEST(StreamWorld, SharesEquallyBetweenTrainersDrivenInTurn) {
  for (size_t tasks : {1, 2, 4})
    for (int total : {100, 1000, 20'000}) {
      stream_world w{{.tasks = tasks}};
      const auto a = w.come();
      const auto b = w.come();
      w.settle();
      for (size_t t = 0; t < tasks; ++t) {
        for (int i = 0; i < total / static_cast<int>(tasks); i += 20) w.produce(t, 20);
        w.exhaust(t);
      }
      bool more_a = true, more_b = true;
      while (more_a || more_b) {
        more_a = more_a && w.next(a) == step::element;
        more_b = more_b && w.next(b) == step::element;
      }
      const auto x = static_cast<double>(w.consumers.at(a).taken);
      const auto y = static_cast<double>(w.consumers.at(b).taken);
      EXPECT_LT(std::abs(x - y) / std::max(x, y), 0.1) << tasks << " tasks: " << x << ", " << y;
      w.expect_each_element_once();
    }
}

TEST(StreamWorld, EndsWhenOneIsDrainedAndThenTheOther) {
  for (size_t tasks : {1, 3}) {
    stream_world w{{.tasks = tasks}};
    const auto a = w.come();
    const auto b = w.come();
    w.settle();
    for (size_t t = 0; t < tasks; ++t) {
      for (int i = 0; i < 50; ++i) w.produce(t, 9);
      w.exhaust(t);
    }
    ASSERT_EQ(w.next(a), step::element);
    ASSERT_EQ(w.next(b), step::element);
    while (w.next(a) == step::element) {
    }
    EXPECT_TRUE(w.consumers.at(a).at_end);
    while (w.next(b) == step::element) {
    }
    EXPECT_TRUE(w.consumers.at(b).at_end);
    w.expect_each_element_once();
    EXPECT_EQ(w.consumers.at(b).taken, 1u) << "what b held unread was a's to have";
  }
}

/// The trainer reads to the end, while the trainers of other consumers keep their elements. Returns
/// the longest time that it waited.
duration longest_wait_to_the_end(stream_world& w, uint64_t id) {
  duration longest{};
  for (auto got = step::waits; got != step::over && longest < std::chrono::seconds{10};) {
    const auto since = w.now;
    while ((got = w.take(id)) == step::waits && w.now - since < std::chrono::seconds{10})
      if (w.settle() == 0)
        w.pass(std::chrono::milliseconds{1});
    longest = std::max(longest, w.now - since);
  }
  return longest;
}

TEST(StreamWorld, ATrainerThatKeepsAnElementDoesNotKeepOthersFromWhatItsConsumerHasBehindIt) {
  for (const int rows_of_a_block : {1, 10})
    for (int taken = 1; taken < 10; ++taken) {
      stream_world w{{.tasks = 1}};
      const auto a = w.come();
      w.settle();
      for (int i = 0; i < 10; i += rows_of_a_block)
        w.produce(0, static_cast<size_t>(rows_of_a_block));
      w.settle();
      for (int i = 0; i < taken; ++i) {
        ASSERT_EQ(w.take(a), step::element);
        w.settle();
      }
      const auto b = w.come();
      w.settle();
      w.exhaust(0);
      EXPECT_LT(longest_wait_to_the_end(w, b), std::chrono::milliseconds{150})
        << taken << " were taken, of blocks of " << rows_of_a_block;
      EXPECT_EQ(w.consumers.at(b).taken, 10u - static_cast<unsigned>(taken));
    }
}

TEST(StreamWorld, GivesUpAReaderThatIsSilentAndSaysSoToItsTrainer) {
  stream_world w{{.tasks = 1}};
  const auto a = w.come();
  const auto b = w.come();
  w.settle();
  w.produce(0, 30);
  w.exhaust(0);
  ASSERT_EQ(w.next(a), step::element);
  w.silence(a);
  w.pass(std::chrono::seconds{6});
  while (w.next(b) == step::element) {
  }
  EXPECT_TRUE(w.consumers.at(b).how.ok());
  EXPECT_EQ(w.next(a), step::over);
  EXPECT_EQ(w.consumers.at(a).how.code(), status_code::aborted);
  EXPECT_EQ(w.given_up, 1u);
  w.expect_each_element_once();
}

TEST(StreamWorld, ReadsALostTaskOnWhenItIsBack) {
  stream_world w{{.tasks = 2}};
  const auto a = w.come();
  w.settle();
  w.produce(0, 30);
  w.produce(1, 30);
  w.settle();
  w.lose_task(0, false);
  for (int i = 0; i < 45; ++i) ASSERT_EQ(w.next(a), step::element) << i;
  w.find_task(0);
  w.exhaust(0);
  w.exhaust(1);
  while (w.next(a) == step::element) {
  }
  w.expect_each_element_once();
}

/// One task, read to its end.
class ReadStreams : public testing::Test {
protected:
  ReadStreams() {
    w.settle();
    w.produce(0, 5);
    w.exhaust(0);
    while (w.next(id) == step::element) {
    }
  }
  std::vector<int64_t>& handed_out() { return w.consumers.at(id).pipes.at(0).handed_out; }

  stream_world w{{.tasks = 1, .shared = false}};
  uint64_t id = w.come();
};

TEST_F(ReadStreams, AreWhole) { EXPECT_EQ(w.fault(), ""); }
TEST_F(ReadStreams, AreSeenToRepeatAnElement) {
  handed_out().push_back(0);
  EXPECT_EQ(w.fault(), "element 0 of task 0 was handed out 2 times");
}
TEST_F(ReadStreams, AreSeenToLoseAnElement) {
  handed_out().pop_back();
  EXPECT_EQ(w.fault(), "element 4 of task 0 was lost");
}
TEST_F(ReadStreams, AreSeenToHaveAnElementOfNobody) {
  handed_out().push_back(7);
  EXPECT_EQ(w.fault(), "an element was handed out that nobody made");
}
TEST_F(ReadStreams, MayLackWhatALostTaskHad) {
  handed_out().pop_back();
  w.tasks[0].lost = true;
  EXPECT_EQ(w.fault(), "");
}

} // namespace
} // namespace headrace::detail
