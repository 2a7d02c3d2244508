#include "tests/actors/stream/stream_world.hpp"

#include <random>

namespace headrace {
namespace {

using step = stream_world::step;

/// Random events in any order: production, single deliveries, cuts, trainers that come, pause, go
/// and die. Then everybody reads to the end.
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
    finish(rows_a_task);
  }

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
    if (kind < 150) {
      produce(t, rows_a_task);
    } else if (kind < 400) {
      w.deliver_up(id, t);
    } else if (kind < 650) {
      w.deliver_down(id, t);
    } else if (kind < 950) {
      if (!asleep_.contains(id))
        for (auto n = below(8) + 1; n > 0 && !at->second.at_end; --n)
          if (w.take(id) != step::element)
            break;
    } else if (kind < 970) {
      if (at->second.woken)
        w.refill(id, false);
    } else if (kind < 980) {
      if (!asleep_.erase(id))
        asleep_.insert(id);
    } else if (kind < 988) {
      w.cut(id, t);
    } else if (kind < 992) {
      w.connect(id, t);
    } else if (kind < 994) {
      w.run_dry(t);
    } else if (kind < 997) {
      if (w.options_.shared && w.consumers.size() < 5)
        w.come();
    } else if (w.consumers.size() > 1) {
      asleep_.erase(id);
      chance(50) ? w.die(id) : w.go(id);
    }
  }

  void produce(size_t t, int64_t rows_a_task) {
    auto& task = world_.tasks[t];
    if (task.exhausted || task.out.pending_bytes() >= 2000)
      return;
    if (task.produced >= rows_a_task)
      return world_.exhaust(t);
    world_.produce(t, below(40) + 1);
    // Pending is bounded by what production adds, and what came back.
    EXPECT_LE(task.out.pending_bytes(), 2000 + 40 * 8 + 6 * world_.options_.stream_bytes);
  }

  void expect_quiet_while_trainers_sleep() {
    EXPECT_LT(world_.settle(20'000), 20'000u) << "messages without end while no trainer moves";
  }

  void finish(int64_t rows_a_task) {
    auto& w = world_;
    for (auto& [id, c] : w.consumers)
      for (size_t t = 0; t < w.tasks.size(); ++t) w.connect(id, t);
    for (size_t idle = 0; idle < 50 && !::testing::Test::HasFailure();) {
      bool moved = w.settle() != 0;
      for (size_t t = 0; t < w.tasks.size(); ++t)
        if (!w.tasks[t].exhausted) {
          produce(t, rows_a_task);
          moved = true;
        }
      for (auto& [id, c] : w.consumers)
        while (!c.at_end && chance(80)) {
          const auto s = w.take(id);
          moved |= s == step::element;
          if (s != step::element)
            break;
        }
      idle = moved ? 0 : idle + 1;
    }
    for (auto& [id, c] : w.consumers) {
      for (int i = 0; i < 100 && !c.at_end; ++i) {
        w.take(id);
        w.settle();
      }
      EXPECT_TRUE(c.at_end) << "consumer " << id << " never heard the end";
    }
    w.expect_each_element_once();
  }

  std::mt19937_64 random_;
  stream_world world_;
  std::set<uint64_t> asleep_;
};

void run_schedules(stream_world::options o, size_t schedules, size_t events) {
  const auto base = std::random_device{}();
  for (size_t i = 0; i < schedules; ++i) {
    const auto seed = (uint64_t{base} << 16) + i;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
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
TEST(StreamSchedule, HandsEachElementOutOnceUnderTinyCredit) {
  run_schedules({.tasks = 2, .most_elements = 2, .stream_bytes = 24}, 40, 5'000);
}
TEST(StreamSchedule, HandsEachElementOutOnceToASingleConsumer) {
  run_schedules({.tasks = 2, .shared = false}, 20, 5'000);
}

TEST(StreamWorld, KeepsTheOrderOfATaskForASingleConsumer) {
  stream_world w{{.tasks = 2, .shared = false}};
  const auto id = w.come();
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

TEST(StreamWorld, NoticesAnElementThatIsLostOrRepeated) {
  stream_world w{{.tasks = 1, .shared = false}};
  const auto id = w.come();
  w.produce(0, 5);
  w.exhaust(0);
  while (w.next(id) == step::element) {
  }
  w.consumers.at(id).pipes.at(0).handed_out.push_back(0);
  EXPECT_EQ(w.all_handed_out().at(0), 2u);
}

} // namespace
} // namespace headrace
