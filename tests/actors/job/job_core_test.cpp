#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/store/fact_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace headrace {
namespace {

worker_info worker(uint64_t id, uint64_t life = 1) {
  return {worker_id{id}, incarnation{life}, "host:" + std::to_string(id), {}, {}, 0};
}

split_plan one_source(uint64_t splits) {
  split_plan out;
  out.sources = {{.splits = splits}};
  out.groups = 1;
  return out;
}

/// One repetition of a job, with what a job actor does around its core.
class driven_job {
public:
  driven_job(processing_mode mode, uint64_t splits)
    : core(job_id{1}, mode, one_source(splits)), store(core, 100) {
    commit({{0, job_core::begun{42}}});
  }
  job_core::repetition& r() { return core.repetitions().at(0); }
  void commit(const std::vector<job_core::fact>& facts) {
    ASSERT_TRUE(store.append(facts).ok());
    for (const auto& x : facts) core.apply(x);
    all.insert(all.end(), facts.begin(), facts.end());
  }
  iteration::commands carry_out(const iteration::decision& decided) {
    commit(core.facts_of(0, decided));
    return decided.todo;
  }
  std::optional<split_assigner::leased_to> ask(task_id who, const std::set<task_id>& blocked) {
    const lease_request wanted{who, 0, 0, {}};
    if (auto news = r().splits.note(wanted))
      commit({{0, *news}});
    auto given = r().splits.decide(wanted, blocked, {});
    if (given)
      commit({{0, split_assigner::fact{*given}}});
    return given;
  }

  job_core core;
  memory_store<job_core> store;
  std::vector<job_core::fact> all;
};

TEST(Iteration, StartsATaskOnEachWorkerWhenTheFirstReaderJoins) {
  driven_job x{processing_mode::off, 10};
  const auto todo = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)}));
  EXPECT_EQ(todo.start.size(), 2u);
  EXPECT_TRUE(
    x.carry_out(x.r().core.consumer_joined(consumer_id{2}, {worker(1), worker(2)})).start.empty());
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(3))).start.size(), 1u);
}

TEST(Iteration, StartsNoSecondTaskOnAWorkerThatIsHeardOfAgain) {
  driven_job x{processing_mode::dynamic, 10};
  x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)}));
  EXPECT_TRUE(x.carry_out(x.r().core.worker_joined(worker(1))).start.empty());
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(1, 2))).start.size(), 1u)
    << "another life of it has no task";
}

TEST(Iteration, FailsAsAWholeWithItsFirstTaskAndStopsTheOthers) {
  driven_job x{processing_mode::dynamic, 10};
  const auto tasks =
    x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
  const auto todo = x.carry_out(
    x.r().core.task_ended(tasks[0].id, tasks[0].life, 3, internal_error("out of luck")));
  ASSERT_EQ(todo.stop.size(), 1u);
  EXPECT_EQ(todo.stop[0].id, tasks[1].id);
  EXPECT_TRUE(todo.announce);
  EXPECT_TRUE(x.r().core.finished());
  EXPECT_EQ(x.r().core.failure().message(), "out of luck");
}

TEST(Iteration, IgnoresWhatAnEarlierLifeOfATaskSays) {
  driven_job x{processing_mode::off, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  EXPECT_TRUE(x.r().core.task_ended(tasks[0].id, incarnation{99}, 3, {}).facts.empty());
}

TEST(Iteration, UnderOffLetsAWorkerThatWasAwayGoOnWithItsCopy) {
  driven_job x{processing_mode::off, 10};
  const auto tasks =
    x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
  for (const auto& t : tasks) x.carry_out(x.r().core.task_started(t.id, {}));
  x.carry_out(x.r().core.worker_lost(worker_id{1}));
  EXPECT_EQ(x.r().core.tasks().at(tasks[0].id).state, iteration::task_state::lost);
  const auto again = x.carry_out(x.r().core.worker_joined(worker(1))).start;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, tasks[0].id) << "another copy was begun";
  EXPECT_TRUE(x.carry_out(x.r().core.task_started(tasks[0].id, {})).announce);
}

TEST(Iteration, UnderOffHearsTheEndOfACopyBeforeItsWorkerIsBack) {
  driven_job x{processing_mode::off, 10};
  const auto tasks =
    x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
  for (const auto& t : tasks) x.carry_out(x.r().core.task_started(t.id, {}));
  x.carry_out(x.r().core.worker_lost(worker_id{1}));
  x.carry_out(x.r().core.task_ended(tasks[0].id, tasks[0].life, 10, {}));
  EXPECT_TRUE(x.carry_out(x.r().core.worker_joined(worker(1))).start.empty())
    << "its copy was given already";
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(1, 2))).start.size(), 1u);
}

TEST(Iteration, UnderDynamicGivesAWorkerThatWasAwayAnotherTask) {
  driven_job x{processing_mode::dynamic, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  x.carry_out(x.r().core.task_started(tasks[0].id, {}));
  const auto gone = x.carry_out(x.r().core.worker_lost(worker_id{1}));
  EXPECT_EQ(gone.forget, std::vector{tasks[0].id});
  const auto fresh = x.carry_out(x.r().core.worker_joined(worker(1))).start;
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_NE(fresh[0].id, tasks[0].id);
}

TEST(JobCore, DecidingChangesNothing) {
  driven_job x{processing_mode::dynamic, 10};
  x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)}));
  const auto before = x.core;
  static_cast<void>(x.r().core.worker_lost(worker_id{1}));
  static_cast<void>(x.r().core.cancel());
  static_cast<void>(x.r().splits.note({task_id{5}, 0, 0, 3}));
  EXPECT_TRUE(x.core == before);
}

/// Readers and workers come and go, tasks start, lease, end and fail, in random order.
class job_schedule {
public:
  job_schedule(uint64_t seed, processing_mode mode, uint64_t splits)
    : random_(seed), mode_(mode), splits_(splits), job_(mode, splits), seen_(splits) {}

  size_t run() {
    size_t events = 0;
    for (; events < 5'000 && !(opened_ && job_.r().core.finished()); ++events) {
      step();
      if (random_() % 512 == 0)
        check();
    }
    check();
    EXPECT_EQ(std::count_if(seen_.begin(), seen_.end(), [](int n) { return n > 1; }), 0)
      << "a split was leased twice";
    return events;
  }

private:
  struct running {
    iteration::task what;
    bool started = false, waits = false, through = false;
  };
  void step() {
    auto& core = job_.r().core;
    const worker_id who{random_() % 4 + 1};
    switch (random_() % 100) {
    case 0:
    case 1:
      do_all(core.consumer_joined(consumer_id{random_() % 3 + 1}, alive()));
      opened_ = true;
      break;
    case 2: do_all(core.consumer_left(consumer_id{random_() % 3 + 1})); break;
    case 3:
    case 4:
      if (!workers_.contains(who)) {
        workers_.emplace(who, worker(who.value, ++life_));
        do_all(core.worker_joined(workers_.at(who)));
      }
      break;
    case 5:
      if (workers_.erase(who) != 0)
        do_all(core.worker_lost(who));
      break;
    default: act();
    }
  }
  void act() {
    if (tasks_.empty())
      return;
    auto at = tasks_.begin();
    std::advance(at, static_cast<long>(random_() % tasks_.size()));
    auto& [id, t] = *at;
    auto& core = job_.r().core;
    if (!t.started) {
      t.started = true;
      return do_all(
        core.task_started(id, random_() % 50 == 0 ? deadline_exceeded("no answer") : status{}));
    }
    if (mode_ == processing_mode::off || t.through) {
      const auto how = random_() % 200 == 0 ? internal_error("out of luck") : status{};
      return do_all(core.task_ended(id, t.what.life, 1, how));
    }
    t.waits = true;
    settle();
  }
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      std::set<task_id> blocked;
      for (const auto& [id, t] : tasks_)
        if (t.waits)
          blocked.insert(id);
      for (auto& [id, t] : tasks_) {
        if (!t.waits)
          continue;
        const auto given = job_.ask(id, blocked);
        if (!given)
          continue;
        moved = true;
        t.waits = false;
        blocked.erase(id);
        t.through = !given->splits;
        if (given->splits)
          for (uint64_t i = 0; i < given->splits->count; ++i) ++seen_.at(given->splits->first + i);
      }
    }
  }
  void do_all(const iteration::decision& decided) {
    const auto todo = job_.carry_out(decided);
    for (const auto& x : todo.stop) tasks_.erase(x.id);
    for (auto id : todo.forget) tasks_.erase(id);
    for (const auto& x : todo.start) tasks_.emplace(x.id, running{x});
    // Who is to work is who the job takes for alive.
    size_t alive_tasks = 0;
    for (const auto& [id, t] : job_.r().core.tasks()) alive_tasks += t.alive();
    if (!job_.r().core.finished()) {
      EXPECT_EQ(alive_tasks, tasks_.size());
    }
    settle();
  }
  std::vector<worker_info> alive() const {
    std::vector<worker_info> out;
    for (const auto& [id, w] : workers_) out.push_back(w);
    return out;
  }
  /// What was recorded makes the same state, from the start and from the store.
  void check() {
    job_core fresh{job_id{1}, mode_, one_source(splits_)};
    for (const auto& x : job_.all) fresh.apply(x);
    EXPECT_TRUE(fresh == job_.core) << "replaying the facts made another state";
    auto recovered = job_.store.recover();
    ASSERT_TRUE(recovered);
    EXPECT_TRUE(*recovered == job_.core) << "the store recovered another state";
  }

  std::mt19937_64 random_;
  processing_mode mode_;
  uint64_t splits_;
  driven_job job_;
  std::map<worker_id, worker_info> workers_;
  std::map<task_id, running> tasks_;
  std::vector<int> seen_;
  bool opened_ = false;
  uint64_t life_ = 0;
};

TEST(JobCore, IsMadeAnewByItsFactsUnderRandomSchedules) {
  const auto base = std::random_device{}();
  size_t events = 0;
  for (uint64_t i = 0; events < 1'000'000 && !::testing::Test::HasFailure(); ++i) {
    const auto seed = (uint64_t{base} << 20) + i;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random{seed};
    events += job_schedule{seed, i % 4 == 0 ? processing_mode::off : processing_mode::dynamic,
                           random() % 2'000}
                .run();
  }
}

} // namespace
} // namespace headrace
