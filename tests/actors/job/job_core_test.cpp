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
  std::optional<split_assigner::leased_to> ask(task_id who, uint64_t answered,
                                               const std::set<task_id>& blocked) {
    const lease_request wanted{who, 0, 0, {}, answered + 1};
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

/// The end of a repetition that one worker has read.
void finish(job_core& job, uint64_t number, const status& how = {}) {
  const auto carry_out = [&](const iteration::decision& decided) {
    for (const auto& x : job.facts_of(number, decided)) job.apply(x);
    return decided.todo;
  };
  job.apply({number, job_core::begun{42}});
  const auto& core = job.repetitions().at(number).core;
  const auto task = carry_out(core.consumer_joined(consumer_id{1}, {worker(1)})).start.at(0);
  carry_out(core.task_ended(task.id, task.life, 10, how));
  EXPECT_TRUE(core.finished());
}
void leave(job_core& job, uint64_t number) {
  const auto decided = job.repetitions().at(number).core.consumer_left(consumer_id{1});
  for (const auto& x : job.facts_of(number, decided)) job.apply(x);
}
void forget_spent(job_core& job) {
  for (const auto& x : job.spent()) job.apply(x);
}

TEST(JobCore, ForgetsRepetitionsThatAreFinishedAndUnreadButTheNewest) {
  job_core job{job_id{1}, processing_mode::dynamic, one_source(10)};
  for (uint64_t epoch = 0; epoch < 1'000; ++epoch) {
    finish(job, epoch);
    EXPECT_FALSE(job.ended_as(epoch)) << "it is read";
    leave(job, epoch);
    forget_spent(job);
    ASSERT_EQ(job.repetitions().size(), 1u);
  }
  EXPECT_EQ(job.ended_as(998), status{});
  EXPECT_EQ(job.ended_as(999), std::nullopt);
}

TEST(JobCore, RemembersHowForgottenRepetitionsEndedInWhateverOrder) {
  job_core job{job_id{1}, processing_mode::dynamic, one_source(10)};
  for (uint64_t number : {3, 1, 2, 0, 9})
    finish(job, number, number == 2 ? internal_error("out of luck") : status{});
  for (uint64_t number : {1, 2, 0}) {
    leave(job, number);
    forget_spent(job);
  }
  EXPECT_EQ(job.ended_as(0), status{});
  EXPECT_EQ(job.ended_as(1), status{});
  EXPECT_EQ(job.ended_as(2), internal_error("out of luck"));
  EXPECT_EQ(job.ended_as(3), std::nullopt) << "it is read";
  EXPECT_EQ(job.ended_as(4), std::nullopt) << "it never began";
  job.apply({2, job_core::begun{43}});
  EXPECT_FALSE(job.repetitions().contains(2)) << "it does not begin again";
}

/// Readers and workers come and go, tasks start, lease, end and fail, in random order; then what is
/// left is worked off.
class job_schedule {
public:
  job_schedule(uint64_t seed, processing_mode mode, uint64_t splits)
    : random_(seed),
      mode_(mode),
      splits_(splits),
      job_(mode, splits),
      given_(splits),
      lost_(splits) {}

  size_t run() {
    size_t events = 0;
    for (; events < 5'000 && !(opened_ && job_.r().core.finished()); ++events) {
      step();
      if (random_() % 512 == 0)
        check();
    }
    events += drain();
    check();
    const auto& core = job_.r().core;
    EXPECT_TRUE(core.finished()) << "it never ends";
    for (const auto& [who, ended] : readers_)
      EXPECT_TRUE(ended) << "consumer " << who.value << " did not hear of the end";
    if (mode_ == processing_mode::dynamic && core.failure().ok()) {
      EXPECT_EQ(std::ranges::count(given_, 1), static_cast<ptrdiff_t>(splits_))
        << "given out twice, or not at all";
      EXPECT_EQ(read_ + static_cast<size_t>(std::ranges::count(lost_, true)), splits_)
        << "neither read nor with a task that was lost";
    }
    return events;
  }

private:
  struct running {
    iteration::task what;
    bool started = false, waits = false, through = false;
    uint64_t answered = 0;
    std::optional<split_range> last = {}; ///< asked for more after it: read
  };
  void step() {
    auto& core = job_.r().core;
    const worker_id who{random_() % 4 + 1};
    switch (random_() % 100) {
    case 0:
    case 1: join(consumer_id{random_() % 3 + 1}); break;
    case 2: {
      const consumer_id reader{random_() % 3 + 1};
      readers_.erase(reader);
      do_all(core.consumer_left(reader));
      break;
    }
    case 3:
    case 4:
      if (!workers_.contains(who))
        start_worker(who);
      break;
    case 5:
      if (auto gone = workers_.extract(who)) {
        away_[who] = gone.mapped();
        do_all(core.worker_lost(who));
      }
      break;
    case 6:
      if (workers_.erase(who) != 0) {
        leave_in_order(who);
        do_all(core.worker_lost(who));
      }
      break;
    default: act();
    }
  }
  void join(consumer_id who) {
    auto& core = job_.r().core;
    do_all(core.consumer_joined(who, alive()));
    opened_ = true;
    readers_[who] = core.finished();
  }
  /// A new life of it, or the one that was away.
  void start_worker(worker_id who) {
    auto away = away_.extract(who);
    workers_.emplace(who, away && random_() % 2 == 0 ? away.mapped() : worker(who.value, ++life_));
    do_all(job_.r().core.worker_joined(workers_.at(who)));
  }
  /// Its tasks give back what they have not begun of their last lease.
  void leave_in_order(worker_id who) {
    std::vector<task_id> leaving;
    for (const auto& [id, t] : tasks_)
      if (t.what.worker.id == who)
        leaving.push_back(id);
    for (auto id : leaving) {
      auto& t = tasks_.at(id);
      auto decided = job_.r().core.task_left(id, t.what.life, 1);
      std::vector<job_core::fact> facts;
      if (!decided.facts.empty() && t.last) {
        const auto unread = random_() % (t.last->count + 1);
        const split_range rest{t.last->first + t.last->count - unread, unread};
        if (auto back = job_.r().splits.give_back(id, {0, 0, t.answered, rest})) {
          facts.push_back({0, *back});
          for (uint64_t i = 0; i < unread; ++i) --given_.at(rest.first + i);
          read_ += t.last->count - unread;
          t.last.reset();
        }
      }
      job_.commit(facts);
      was_read(t);
      do_all(decided);
    }
  }
  void was_read(running& t) {
    if (t.last)
      read_ += t.last->count;
    t.last.reset();
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
      const bool answers = calm_ || random_() % 50 != 0;
      return do_all(core.task_started(id, answers ? status{} : deadline_exceeded("no answer")));
    }
    if (mode_ == processing_mode::off || t.through) {
      const bool well = calm_ || random_() % 200 != 0;
      return do_all(
        core.task_ended(id, t.what.life, 1, well ? status{} : internal_error("out of luck")));
    }
    t.waits = true;
    settle();
  }
  /// No more accidents, until all is done.
  size_t drain() {
    calm_ = true;
    if (workers_.empty())
      start_worker(worker_id{1});
    join(consumer_id{1});
    size_t events = 0;
    for (; events < 100'000 && !job_.r().core.finished(); ++events) {
      // Where every task left or was lost, it is for a worker to come.
      if (tasks_.empty())
        start_worker(worker_id{100 + events});
      act();
    }
    return events;
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
        const auto given = job_.ask(id, t.answered, blocked);
        if (!given)
          continue;
        was_read(t);
        moved = true;
        t.waits = false;
        ++t.answered;
        blocked.erase(id);
        t.through = !given->splits;
        t.last = given->splits;
        if (given->splits)
          for (uint64_t i = 0; i < given->splits->count; ++i) ++given_.at(given->splits->first + i);
      }
    }
  }
  void do_all(const iteration::decision& decided) {
    const auto todo = job_.carry_out(decided);
    for (const auto& x : todo.stop) tasks_.erase(x.id);
    for (auto id : todo.forget) {
      const auto gone = tasks_.extract(id);
      if (gone && gone.mapped().last)
        for (uint64_t i = 0; i < gone.mapped().last->count; ++i)
          lost_.at(gone.mapped().last->first + i) = true;
    }
    for (const auto& x : todo.start) tasks_.emplace(x.id, running{x});
    const auto& core = job_.r().core;
    if (todo.announce && core.finished())
      for (auto& [who, ended] : readers_) ended = true;
    // Who is to work is who the job takes for alive.
    size_t alive_tasks = 0;
    for (const auto& [id, t] : core.tasks()) alive_tasks += t.alive();
    if (!core.finished()) {
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
  std::map<worker_id, worker_info> away_; ///< taken for lost, and may come back
  std::map<task_id, running> tasks_;
  std::map<consumer_id, bool> readers_; ///< and whether they heard of the end
  std::vector<int> given_;              ///< how often each split, less what was given back
  std::vector<bool> lost_;              ///< with a task
  size_t read_ = 0;
  bool opened_ = false;
  bool calm_ = false;
  uint64_t life_ = 0;
};

TEST(JobCore, GivesEachSplitOnceEndsAndIsMadeAnewByItsFactsUnderRandomSchedules) {
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
