#include "tests/actors/job/driven_job.hpp"

namespace headrace::test {
namespace {

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
    x.r().core.task_ended(tasks[0].id, tasks[0].life, {3}, internal_error("out of luck")));
  ASSERT_EQ(todo.stop.size(), 1u);
  EXPECT_EQ(todo.stop[0].id, tasks[1].id);
  EXPECT_TRUE(todo.announce);
  EXPECT_TRUE(x.r().core.finished());
  EXPECT_EQ(x.r().core.failure().message(), "out of luck");
}

TEST(Iteration, IgnoresWhatAnEarlierLifeOfATaskSays) {
  driven_job x{processing_mode::off, 10};
  const auto tasks = x.carry_out(x.r().core.consumer_joined(consumer_id{1}, {worker(1)})).start;
  EXPECT_TRUE(x.r().core.task_ended(tasks[0].id, incarnation{99}, {3}, {}).facts.empty());
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
  x.carry_out(x.r().core.task_ended(tasks[0].id, tasks[0].life, {10}, {}));
  EXPECT_TRUE(x.carry_out(x.r().core.worker_joined(worker(1))).start.empty())
    << "its copy was given already";
  EXPECT_EQ(x.carry_out(x.r().core.worker_joined(worker(1, 2))).start.size(), 1u);
}

TEST(Iteration, UnderOffIsOverOnlyWhenACopyIsWhole) {
  driven_job x{processing_mode::off, 10};
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

} // namespace
} // namespace headrace::test
