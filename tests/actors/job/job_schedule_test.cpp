#include "tests/actors/job/driven_job.hpp"

#include <algorithm>
#include <map>
#include <random>

namespace headrace::test {
namespace {

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
      auto decided = job_.r().core.task_left(id, t.what.life, {1});
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
        core.task_ended(id, t.what.life, {1}, well ? status{} : internal_error("out of luck")));
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

TEST(JobSchedule, GivesEachSplitOnceEndsAndIsMadeAnewByItsFactsUnderRandomSchedules) {
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
} // namespace headrace::test
