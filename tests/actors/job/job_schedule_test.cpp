#include "tests/actors/job/driven_job.hpp"
#include "tests/actors/job/reading_task.hpp"

#include <iostream>

namespace headrace::test {
namespace {

/// Readers and workers come and go, tasks start, lease, leave, end and fail, in random order, over
/// random sources; then what is left is worked off.
class job_schedule {
public:
  job_schedule(uint64_t seed, sharding_policy mode)
    : random_(seed),
      mode_(mode),
      plan_(random_, 300),
      ledger_(plan_),
      job_(mode, plan_.what),
      accidents_(random_() % 300 + 20) {
    for (auto n = random_() % 4; n != 0; --n) start_worker(worker_id{n});
  }

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
    if (mode_ == sharding_policy::dynamic && core.failure().ok())
      ledger_.check(left_);
    return events;
  }

private:
  struct running {
    iteration::task what;
    reading_task reader;
    bool started = false;
    std::optional<std::vector<unread_splits>> unread = {}; ///< it leaves
    std::optional<lease_request> waits = {};               ///< at the job
  };
  void step() {
    auto& core = job_.r().core;
    const worker_id who{random_() % 4 + 1};
    switch (random_() % accidents_) {
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
        leaving_.erase(who);
        do_all(core.worker_lost(who, rest()));
      }
      break;
    case 6:
      if (workers_.contains(who))
        begin_to_leave(who);
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
  void begin_to_leave(worker_id who) {
    leaving_.insert(who);
    left_ = true;
    for (auto& [id, t] : tasks_)
      if (t.what.worker.id == who && t.started && !t.unread)
        t.unread = mode_ == sharding_policy::off ? std::vector<unread_splits>{} : t.reader.leave();
    say_goodbye();
  }
  /// A worker that leaves is gone with its last task.
  void say_goodbye() {
    for (auto at = leaving_.begin(); at != leaving_.end();) {
      const auto who = *at;
      if (std::ranges::any_of(tasks_,
                              [&](const auto& x) { return x.second.what.worker.id == who; })) {
        ++at;
        continue;
      }
      at = leaving_.erase(at);
      workers_.erase(who);
      do_all(job_.r().core.worker_lost(who, rest()));
      at = leaving_.begin();
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
      const bool answers = calm_ || random_() % 50 != 0;
      const bool leaves = leaving_.contains(t.what.worker.id);
      do_all(core.task_started(id,
                               leaves    ? unavailable("it is about to end")
                               : answers ? status{}
                                         : deadline_exceeded("no answer"),
                               rest()));
      return say_goodbye();
    }
    if (mode_ == sharding_policy::dynamic && !t.reader.ended()) {
      t.reader.step(random_);
      if (!t.unread && !t.waits)
        t.waits = t.reader.asks(id);
      return settle();
    }
    if (t.unread) {
      end_of_leaving(id);
      return say_goodbye();
    }
    if (mode_ == sharding_policy::dynamic)
      t.reader.finish();
    const bool well = calm_ || random_() % 200 != 0;
    do_all(core.task_ended(id, t.what.life, {1}, well ? status{} : internal_error("out of luck"),
                           rest()));
    say_goodbye();
  }
  void end_of_leaving(task_id id) {
    iteration::commands todo;
    const auto unread = *tasks_.at(id).unread;
    // All that is not given back was read.
    auto reader = tasks_.at(id).reader;
    for (const auto& back : job_.leave(id, unread, alive(), todo)) reader.gave_back(back);
    reader.finish();
    tasks_.erase(id);
    do_all(todo);
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
        const auto given = job_.ask(*t.waits, blocked);
        if (!given)
          continue;
        moved = true;
        t.waits.reset();
        blocked.erase(id);
        if (!t.unread)
          t.reader.answered(given->splits);
        else if (given->splits)
          t.reader.leased_in_vain(*given);
      }
    }
  }
  void do_all(const iteration::decision& decided) { do_all(job_.carry_out(decided)); }
  void do_all(const iteration::commands& todo) {
    for (const auto& x : todo.stop) tasks_.erase(x.id);
    for (auto id : todo.forget)
      if (auto gone = tasks_.extract(id))
        gone.mapped().reader.lose();
    for (const auto& x : todo.start) tasks_.emplace(x.id, running{x, {plan_, ledger_}});
    const auto& core = job_.r().core;
    if (todo.announce && core.finished())
      for (auto& [who, ended] : readers_) ended = true;
    // Who is to work is who the job takes for alive.
    if (!core.finished()) {
      EXPECT_EQ(std::ranges::count_if(core.tasks(), [](const auto& x) { return x.second.alive(); }),
                static_cast<ptrdiff_t>(tasks_.size()));
    }
    settle();
  }
  std::vector<worker_info> alive() const {
    std::vector<worker_info> out;
    for (const auto& [id, w] : workers_) out.push_back(w);
    return out;
  }
  job_remainder rest() { return job_.rest(alive()); }
  /// What was recorded makes the same state, from the start and from the store.
  void check() {
    job_core fresh{job_id{1}, mode_, plan_.what};
    for (const auto& x : job_.all) fresh.apply(x);
    EXPECT_TRUE(fresh == job_.core) << "replaying the facts made another state";
    auto recovered = job_.store.recover();
    ASSERT_TRUE(recovered);
    EXPECT_TRUE(*recovered == job_.core) << "the store recovered another state";
  }

  std::mt19937_64 random_;
  sharding_policy mode_;
  random_plan plan_;
  split_ledger ledger_;
  driven_job job_;
  const uint64_t accidents_; ///< six of so many events
  std::map<worker_id, worker_info> workers_;
  std::map<worker_id, worker_info> away_; ///< taken for lost, and may come back
  std::set<worker_id> leaving_;
  std::map<task_id, running> tasks_;
  std::map<consumer_id, bool> readers_; ///< and whether they heard of the end
  bool opened_ = false;
  bool left_ = false; ///< a worker, in order
  bool calm_ = false;
  uint64_t life_ = 0;
};

TEST(JobSchedule, GivesEachSplitOnceEndsAndIsMadeAnewByItsFactsUnderRandomSchedules) {
  const auto base = uint64_t{std::random_device{}()} << 20;
  std::cout << "seeds from " << base << std::endl;
  size_t events = 0;
  for (uint64_t i = 0; events < 1'000'000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << base + i);
    events +=
      job_schedule{base + i, i % 8 == 0 ? sharding_policy::off : sharding_policy::dynamic}.run();
  }
}

} // namespace
} // namespace headrace::test
