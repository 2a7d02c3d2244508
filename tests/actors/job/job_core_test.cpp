#include "tests/actors/job/driven_job.hpp"

namespace headrace::test {
namespace {

TEST(Iteration, StartsATaskOnEachWorkerWhenTheFirstReaderJoins) {
  driven_job x{sharding_policy::off, 10};
  const auto todo = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)}));
  EXPECT_EQ(todo.start.size(), 2u);
  EXPECT_TRUE(
    x.carry_out(x.r().core.consumer_joined(consumer_id{2}, {worker(1), worker(2)})).start.empty());
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(3))).start.size(), 1u);
}

TEST(Iteration, StartsNoSecondTaskOnAWorkerThatIsHeardOfAgain) {
  driven_job x{sharding_policy::dynamic, 10};
  x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)}));
  EXPECT_TRUE(x.carry_out(x.r().core.worker_joined(worker(1))).start.empty());
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(1, 2))).start.size(), 1u)
    << "another life of it has no task";
}

TEST(Iteration, FailsAsAWholeWithItsFirstTaskAndStopsTheOthers) {
  driven_job x{sharding_policy::dynamic, 10};
  const auto tasks =
    x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
  const auto todo = x.carry_out(
    x.r().core.task_ended(tasks[0].id, tasks[0].life, {3}, internal_error("out of luck")));
  ASSERT_EQ(todo.stop.size(), 1u);
  EXPECT_EQ(todo.stop[0].id, tasks[1].id);
  EXPECT_TRUE(todo.announce);
  EXPECT_TRUE(x.r().core.finished());
  EXPECT_EQ(x.r().core.failure().message(), "out of luck");
}

TEST(Iteration, IgnoresWhatAnEarlierLifeOfATaskSays) {
  driven_job x{sharding_policy::off, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  EXPECT_TRUE(x.r().core.task_ended(tasks[0].id, incarnation{99}, {3}, {}).facts.empty());
}

TEST(Iteration, UnderOffLetsAWorkerThatWasAwayGoOnWithItsCopy) {
  driven_job x{sharding_policy::off, 10};
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
  driven_job x{sharding_policy::off, 10};
  const auto tasks =
    x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
  for (const auto& t : tasks) x.carry_out(x.r().core.task_started(t.id, {}));
  x.carry_out(x.r().core.worker_lost(worker_id{1}));
  x.carry_out(x.r().core.task_ended(tasks[0].id, tasks[0].life, {10}, {}));
  EXPECT_TRUE(x.carry_out(x.r().core.worker_joined(worker(1))).start.empty())
    << "its copy was given already";
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(1, 2))).start.size(), 1u);
}

TEST(Iteration, UnderOffIsOverOnlyWhenACopyIsWhole) {
  driven_job x{sharding_policy::off, 10};
  auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  x.carry_out(x.r().core.task_started(tasks[0].id, {}));
  x.carry_out(x.r().core.worker_lost(worker_id{1}));
  EXPECT_FALSE(x.r().core.finished());
  tasks = x.carry_out(x.r().core.worker_joined(worker(2))).start;
  ASSERT_EQ(tasks.size(), 1u);
  x.carry_out(x.r().core.task_started(tasks[0].id, {}));
  x.carry_out(x.r().core.task_ended(tasks[0].id, tasks[0].life, {10}, {}));
  EXPECT_TRUE(x.r().core.finished());
}

TEST(Iteration, UnderDynamicGivesAWorkerThatWasAwayAnotherTask) {
  driven_job x{sharding_policy::dynamic, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  x.carry_out(x.r().core.task_started(tasks[0].id, {}));
  const auto gone = x.carry_out(x.r().core.worker_lost(worker_id{1}));
  EXPECT_EQ(gone.forget, std::vector{tasks[0].id});
  const auto fresh = x.carry_out(x.r().core.worker_joined(worker(1))).start;
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_NE(fresh[0].id, tasks[0].id);
}

TEST(JobCore, DecidingChangesNothing) {
  driven_job x{sharding_policy::dynamic, 10};
  x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)}));
  const auto before = x.core;
  static_cast<void>(x.r().core.worker_lost(worker_id{1}));
  static_cast<void>(x.r().core.cancel());
  static_cast<void>(x.r().splits.note({task_id{5}, 0, 0, 3}));
  EXPECT_TRUE(x.core == before);
}

/// Two sources and two tasks. The first one waits for source 0 and has a rest of source 1 when the
/// second one is told the end of both, and ends.
class CrossedJob : public testing::Test {
protected:
  CrossedJob() : x(sharding_policy::dynamic, plan()) {
    const auto todo = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, workers));
    first = todo.start.at(0);
    second = todo.start.at(1);
    for (const auto& t : {first, second}) x.carry_out(x.r().core.task_started(t.id, {}));
    rest = *x.ask({first.id, 1, 0, {}, 1}, {})->splits;
    EXPECT_TRUE(x.ask({second.id, 0, 0, {}, 1}, {})->splits);
    EXPECT_FALSE(x.ask({first.id, 0, 0, {}, 1}, {})) << "the other one has it";
    uint64_t number = 1;
    while (x.ask({second.id, 1, 0, {}, number}, {first.id, second.id})->splits) ++number;
    EXPECT_FALSE(x.ask({second.id, 0, 0, {}, 2}, {first.id, second.id})->splits);
    EXPECT_TRUE(x.carry_out(x.r().core.task_ended(second.id, second.life, {1}, {}, x.rest(workers)))
                  .start.empty());
  }
  static split_plan plan() {
    split_plan out;
    out.sources = {{.splits = 1, .group = 0}, {.splits = 40, .group = 1}};
    out.groups = 2;
    return out;
  }
  /// The first task leaves.
  iteration::commands leave(const std::vector<worker_info>& alive) {
    iteration::commands todo;
    EXPECT_EQ(x.leave(first.id, {{1, 0, 1, rest}}, alive, todo).size(), 1u);
    return todo;
  }
  iteration::commands end(const iteration::task& what) {
    return x.carry_out(x.r().core.task_ended(what.id, what.life, {1}, {}, x.rest(workers)));
  }

  std::vector<worker_info> workers{worker(1), worker(2)};
  driven_job x;
  iteration::task first, second;
  split_range rest;
};

TEST_F(CrossedJob, StartsATaskForWhatCameBackAfterTheOthersEnded) {
  const auto todo = leave(workers);
  EXPECT_FALSE(x.r().core.finished());
  ASSERT_EQ(todo.start.size(), 1u);
  EXPECT_EQ(todo.start[0].worker.id, second.worker.id) << "the other one leaves";
  uint64_t read = 0;
  for (uint64_t number = 1;; ++number) {
    const auto given = x.ask({todo.start[0].id, 1, 0, {}, number}, {})->splits;
    if (!given)
      break;
    read += given->count;
  }
  EXPECT_EQ(read, rest.count);
  EXPECT_TRUE(end(todo.start[0]).start.empty());
  EXPECT_TRUE(x.r().core.finished());
}

TEST_F(CrossedJob, StartsNoFurtherTaskForWhatOneDidNotWant) {
  const auto todo = leave(workers);
  EXPECT_TRUE(end(todo.start.at(0)).start.empty());
  EXPECT_TRUE(x.r().core.finished());
}

TEST_F(CrossedJob, StartsAnotherTaskWhereTheOneForTheRestIsLost) {
  const auto todo = leave(workers);
  workers = {worker(3)};
  const auto again = x.carry_out(x.r().core.worker_lost(second.worker.id, x.rest(workers))).start;
  EXPECT_EQ(again.size(), 1u);
  EXPECT_FALSE(x.r().core.finished());
}

TEST_F(CrossedJob, WaitsForAWorkerWhereNoneIsLeftForTheRest) {
  EXPECT_TRUE(leave({worker(1)}).start.empty());
  EXPECT_FALSE(x.r().core.finished());
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(3))).start.size(), 1u);
}

TEST(JobCore, SharesOutAmongTheTasksThatLive) {
  driven_job x{sharding_policy::dynamic, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(
                                   consumer_id{1}, {worker(1), worker(2), worker(3), worker(4)}))
                       .start;
  const auto sharing = [&] {
    uint64_t out = 0;
    for (const auto& fact : x.all)
      if (const auto* of = std::get_if<split_assigner::fact>(&fact.what))
        if (const auto* by = std::get_if<split_assigner::shared_by>(of))
          out = by->tasks;
    return out;
  };
  EXPECT_EQ(sharing(), 4u);
  x.carry_out(x.r().core.worker_lost(worker_id{1}));
  EXPECT_EQ(sharing(), 3u);
  x.carry_out(x.r().core.task_ended(tasks[1].id, tasks[1].life, {1}, {}));
  EXPECT_EQ(sharing(), 2u);
  x.carry_out(x.r().core.task_left(tasks[2].id, tasks[2].life, {1}));
  EXPECT_EQ(sharing(), 1u);
  x.carry_out(x.r().core.worker_joined(worker(5)));
  EXPECT_EQ(sharing(), 2u);
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
  carry_out(core.task_ended(task.id, task.life, {10}, how));
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
  job_core job{job_id{1}, sharding_policy::dynamic, one_source(10)};
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
  job_core job{job_id{1}, sharding_policy::dynamic, one_source(10)};
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

} // namespace
} // namespace headrace::test
