#include "tests/actors/job/driven_job.hpp"
#include "tests/actors/job/reading_task.hpp"
#include "tests/actors/job/reread_record.hpp"

#include <iostream>
#include <map>
#include <random>
#include <set>

namespace headrace::detail::test {
namespace {

/// Readers and workers join and leave, and tasks start, lease, leave, end and fail, in random
/// order, over random sources; at the end the remaining work is done. The class takes the place of
/// the network and the workers, and checks the results; the job's core makes all decisions.
class job_schedule {
public:
  job_schedule(uint64_t seed, sharding_policy policy)
    : random_(seed),
      policy_(policy),
      plan_(random_, 300),
      ledger_(plan_),
      job_(policy, plan_of(plan_, random_)),
      accidents_(random_() % 300 + 20) {
    for (auto n = random_() % 4; n != 0; --n) start_worker(worker_id{n});
  }

  size_t run() {
    size_t events = 0;
    for (; events < 5'000 && !finished(); ++events) {
      step();
      if (random_() % 512 == 0)
        check();
    }
    events += drain();
    check();
    EXPECT_TRUE(finished()) << "it never ends";
    for (const auto& [who, ended] : readers_)
      EXPECT_TRUE(ended) << "consumer " << who << " did not hear of the end";
    if (policy_ == sharding_policy::dynamic && job_.state().failure().ok())
      ledger_.check(left_);
    return events;
  }

private:
  struct running {
    job_command::start_task order;
    reading_task reader;
    bool started = false;
    std::optional<std::vector<unread_splits>> unread = {}; ///< set if it leaves
    bool waits = false;                                    ///< the task waits for the job's answer
  };
  struct question {
    task_id task;
    split_question which;
  };

  /// Draws whether each row of the plan descends from one split: then splits of lost tasks can be
  /// read again. It is never drawn for a plan whose zips read sources that do not advance together,
  /// because splits that are read again may find no partner there.
  static const split_plan& plan_of(random_plan& plan, std::mt19937_64& random) {
    plan.what.rows.apart = plan.aligned() && random() % 2 == 0;
    plan.what.rows.single = plan.what.rows.apart;
    return plan.what;
  }
  bool finished() const { return job_.begun() && job_.state().finished(); }
  void step() {
    const worker_id who{random_() % 4 + 1};
    switch (random_() % accidents_) {
    case 0:
    case 1: join(random_() % 3 + 1); break;
    case 2: {
      const auto reader = random_() % 3 + 1;
      if (readers_.erase(reader) != 0)
        follow(job_.leave(reader, 0, {}, receipts()));
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
        follow(job_.lost(who));
      }
      break;
    case 6:
      if (workers_.contains(who))
        begin_to_leave(who);
      break;
    default: act();
    }
  }
  void join(uint64_t who) {
    const auto out = job_.open(who);
    readers_[who] = std::get<iteration_view>(out.answers.at(job_.last_token)).finished;
    follow(out);
  }
  /// Starts a new incarnation of the worker, or brings back the worker if it was away.
  void start_worker(worker_id who) {
    auto away = away_.extract(who);
    workers_.emplace(who, away && random_() % 2 == 0 ? away.mapped() : worker(who.value, ++life_));
    follow(job_.came(workers_.at(who)));
  }
  void begin_to_leave(worker_id who) {
    leaving_.insert(who);
    left_ = true;
    for (auto& [id, t] : tasks_)
      if (t.order.worker == who && t.started && !t.unread)
        t.unread =
          policy_ == sharding_policy::off ? std::vector<unread_splits>{} : t.reader.leave();
    say_goodbye();
  }
  /// Ends each leaving worker whose last task is gone.
  void say_goodbye() {
    for (auto at = leaving_.begin(); at != leaving_.end();) {
      const auto who = *at;
      if (std::ranges::any_of(tasks_,
                              [&](const auto& x) { return x.second.order.worker == who; })) {
        ++at;
        continue;
      }
      at = leaving_.erase(at);
      workers_.erase(who);
      follow(job_.lost(who));
      at = leaving_.begin();
    }
  }
  void act() {
    if (tasks_.empty())
      return;
    auto at = tasks_.begin();
    std::advance(at, static_cast<long>(random_() % tasks_.size()));
    auto& [id, t] = *at;
    if (!t.started) {
      t.started = true;
      const bool answers = calm_ || random_() % 50 != 0;
      const bool leaves = leaving_.contains(t.order.worker);
      follow(job_.started(t.order, leaves    ? unavailable("it is about to end")
                                   : answers ? status{}
                                             : deadline_exceeded("no answer")));
      return say_goodbye();
    }
    // While there are no readers, tasks pause: rows that they made would reach no reader, so that
    // the job could return splits that were read, which `reading_task` reports as an error.
    if (plan_.what.rows.apart && readers_.empty())
      return;
    if (policy_ == sharding_policy::dynamic && !t.reader.ended()) {
      t.reader.step(random_);
      const auto task = id;
      for (const auto& closed : t.reader.closed()) close(task, closed);
      if (const auto now = tasks_.find(task);
          now != tasks_.end() && !now->second.unread && !now->second.waits)
        ask(task, now->second);
      return;
    }
    if (t.unread) {
      end_of_leaving(id);
      return say_goodbye();
    }
    if (policy_ == sharding_policy::dynamic)
      t.reader.finish();
    const bool well = calm_ || random_() % 200 != 0;
    follow(job_.ended(t.order.what, well ? status{} : internal_error("out of luck")));
    say_goodbye();
  }
  void ask(task_id id, running& t) {
    const auto wanted = t.reader.asks(id);
    if (!wanted)
      return;
    t.waits = true;
    const split_question which{wanted->source, wanted->pass, *wanted->number};
    const auto out = job_.ask(
      {.task = id, .life = t.order.what.life, .wish = {.which = which, .total = wanted->total}});
    questions_[job_.last_token] = {id, which};
    follow(out);
  }
  void close(task_id id, const unread_splits& what) {
    const auto at = tasks_.find(id);
    if (at == tasks_.end())
      return;
    const auto out =
      job_.ask({.task = id,
                .life = at->second.order.what.life,
                .wish = {.which = {what.source, what.pass, what.answered}, .closes = what}});
    for (const auto& fact : out.stored)
      if (const auto* of = std::get_if<split_assigner::fact>(&fact.what))
        if (const auto* back = std::get_if<split_assigner::returned>(of))
          at->second.reader.gave_back(*back);
    follow(out);
  }
  void end_of_leaving(task_id id) {
    auto gone = tasks_.extract(id);
    auto& t = gone.mapped();
    const auto out = job_.left(t.order.what, *t.unread);
    // The task has read all splits that it did not give back.
    for (const auto& fact : out.stored)
      if (const auto* of = std::get_if<split_assigner::fact>(&fact.what))
        if (const auto* back = std::get_if<split_assigner::returned>(of))
          t.reader.gave_back(*back);
    t.reader.finish();
    follow(out);
  }
  /// Runs without further faults until all work is done.
  size_t drain() {
    calm_ = true;
    if (workers_.empty())
      start_worker(worker_id{1});
    join(1);
    size_t events = 0;
    for (; events < 100'000 && !finished(); ++events) {
      // If all tasks left or were lost, another worker must join.
      if (tasks_.empty())
        start_worker(worker_id{100 + events});
      act();
    }
    return events;
  }
  /// Carries out the job's commands for tasks and readers.
  void follow(const job_outcome& what) {
    EXPECT_FALSE(what.ended) << "it is kept longer than this";
    for (const auto& x : what.stops) tasks_.erase(x.task);
    for (auto at = tasks_.begin(); at != tasks_.end();) {
      if (job_.state().tasks().at(at->first).alive()) {
        ++at;
        continue;
      }
      dying_.emplace(at->first, std::move(at->second.reader));
      left_ = true;
      at = tasks_.erase(at);
    }
    look_at_the_lost(what);
    for (const auto& x : what.starts) tasks_.emplace(x.what.id, running{x, {plan_, ledger_}});
    for (const auto& x : what.news)
      if (x.what.finished)
        for (auto who : x.to)
          if (auto at = readers_.find(who.value); at != readers_.end())
            at->second = true;
    // The number of tasks that the job counts as alive must be the number of tasks in `tasks_`.
    if (job_.begun() && !finished()) {
      EXPECT_EQ(
        std::ranges::count_if(job_.state().tasks(), [](const auto& x) { return x.second.alive(); }),
        static_cast<ptrdiff_t>(tasks_.size()));
    }
    for (const auto& [token, answer] : what.answers)
      if (auto asked = questions_.extract(token))
        if (const auto* splits = std::get_if<lease_answer>(&answer))
          hear(asked.mapped(), *splits);
  }
  /// Readers send receipts for lost tasks, and the job decides which splits are read again.
  void look_at_the_lost(const job_outcome& what) {
    std::vector<split_assigner::returned> back;
    for (const auto& fact : what.stored) {
      const auto* of = std::get_if<split_assigner::fact>(&fact.what);
      if (of == nullptr)
        continue;
      if (const auto* one = std::get_if<split_assigner::returned>(of))
        back.push_back(*one);
      if (const auto* gone = std::get_if<split_assigner::task_gone>(of))
        if (auto dead = dying_.extract(gone->task)) {
          for (const auto& one : std::exchange(back, {})) dead.mapped().gave_back(one);
          if (plan_.what.rows.apart)
            dead.mapped().finish();
          else
            dead.mapped().lose();
        }
    }
    for (const auto& [who, ended] : std::map{readers_})
      for (auto id : lost())
        if (job_.core.record().repetitions().at(0).leases.awaits(id, consumer_id{who}))
          follow(job_.beat(who, 0, receipts()));
  }
  std::vector<task_id> lost() const {
    std::vector<task_id> out;
    for (const auto& [id, x] : dying_) out.push_back(id);
    return out;
  }
  std::vector<split_receipt> receipts() const {
    std::vector<split_receipt> out;
    for (const auto& [id, x] : dying_) out.push_back(x.receipt(id));
    for (const auto& [id, x] : tasks_) out.push_back(x.reader.receipt(id));
    return out;
  }
  void hear(const question& asked, const lease_answer& given) {
    const auto at = tasks_.find(asked.task);
    if (at == tasks_.end())
      return;
    auto& t = at->second;
    t.waits = false;
    if (!t.unread)
      t.reader.answered(given);
    else
      t.reader.leased(asked.which, given);
  }
  /// Checks that the stored facts, applied from the first one on, and the store's record make the
  /// state of the core, and that an encoded and decoded record is equal and leads to the same
  /// commands.
  void check() {
    auto fresh = driven_job::empty(job_.core.about());
    for (const auto& x : job_.all) fresh.apply(x);
    EXPECT_TRUE(fresh == job_.core.record()) << "replaying the facts made another state";
    EXPECT_TRUE(job_.store.record() == job_.core.record()) << "the store recovered another state";
    reread_.check(fresh, job_.all);
    std::vector<worker_info> present;
    for (const auto& [id, who] : workers_) present.push_back(who);
    expect_same_decisions(job_.core.about(), fresh, reread_.now(), present, random_());
  }

  std::mt19937_64 random_;
  sharding_policy policy_;
  random_plan plan_;
  split_ledger ledger_;
  driven_job job_;
  reread_record reread_{driven_job::empty(job_.core.about())};
  /// On average, seven of this number of steps let a reader or worker join, leave or be lost.
  const uint64_t accidents_;
  std::map<worker_id, worker_info> workers_;
  std::map<worker_id, worker_info> away_; ///< workers that count as lost and may come back
  std::set<worker_id> leaving_;
  std::map<task_id, running> tasks_;
  /// Lost tasks whose readers have not all sent receipts.
  std::map<task_id, reading_task> dying_;
  std::map<request_token, question> questions_; ///< questions that the job has not answered
  /// The readers, and whether they were informed of the end.
  std::map<uint64_t, bool> readers_;
  bool left_ = false; ///< a worker has left or was lost
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
} // namespace headrace::detail::test
