#include "tests/actors/job/driven_job.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A job of two consumers, 1 and 2, whose first epoch has begun with one task.
class JobRounds : public testing::Test {
protected:
  JobRounds() {
    auto begun = job.open_seat(0, 1);
    first = begun.starts.at(0).what.id;
    first_life = begun.starts.at(0).what.life;
    for (const auto& x : begun.starts) job.started(x);
    for (const auto& x : job.open_seat(1, 2).starts) job.started(x);
    EXPECT_EQ(job.state().rounds().epoch().number, 1u);
  }
  /// Consumer 3 has taken the place of consumer 2, and its epoch begins with round 50. Its only
  /// report was sent before that epoch was agreed on.
  void replaces_at_50() {
    job.beat_in_rounds(1, {.round = 50});
    job.open_seat(1, 3, true);
    job.beat_in_rounds(3, {.round = 0});
    job.beat_in_rounds(1, {.round = 50, .answers = 2});
    ASSERT_EQ(job.state().rounds().epoch().first_round, 50u);
  }
  iteration_losses losses() const {
    return job.core.record().losses_of(job.core.record().repetitions().at(0));
  }

  driven_job job{{.id = job_id{1},
                  .name = "train",
                  .policy = sharding_policy::off,
                  .plan = one_source(10),
                  .timing = {1s, 5s},
                  .num_consumers = 2},
                 {worker(1)}};
  task_id first; ///< the task of the first epoch
  incarnation first_life;
};

TEST_F(JobRounds, CountsFromTheLastReportWhatAConsumerThatIsGoneHasMissed) {
  for (const auto& x : job.came(worker(2)).starts) job.started(x);
  // Consumer 2 still has to hand out the rounds 10 to 29 when the second epoch begins.
  job.beat_in_rounds(2, {.round = 10, .answers = 2});
  job.beat_in_rounds(1, {.round = 30, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 30u);
  job.pass(1s);
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 50});
  job.beat_in_rounds(3, {.round = 0, .answers = 3});
  const auto out = job.announced(job.beat_in_rounds(1, {.round = 50, .answers = 3}));
  ASSERT_EQ(job.state().rounds().epoch().first_round, 50u);
  ASSERT_FALSE(out.news.empty());
  EXPECT_EQ(out.news.front().what.rounds.now.number, 3u);
  EXPECT_EQ(out.news.front().what.losses.elements, 40u);
}

TEST_F(JobRounds, CountsWhatAConsumerThatLeftInOrderHasMissed) {
  job.beat_in_rounds(2, {.round = 5});
  job.beat_in_rounds(1, {.round = 30});
  job.leave(2, 0, {{first, 10}});
  job.open_seat(1, 3, true);
  const auto out = job.announced(job.beat_in_rounds(1, {.round = 30, .answers = 2}));
  ASSERT_EQ(job.state().rounds().epoch().first_round, 30u);
  ASSERT_FALSE(out.news.empty());
  EXPECT_EQ(out.news.front().what.losses.elements, 20u);
}

TEST_F(JobRounds, CountsFromTheLastReportWhereTheGoodbyeDoesNotNameTheTasksOfTheEpoch) {
  job.beat_in_rounds(2, {.round = 5});
  job.beat_in_rounds(1, {.round = 30});
  job.leave(2);
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 30, .answers = 2});
  EXPECT_EQ(losses().elements, 25u);
}

TEST_F(JobRounds, CountsNothingOfAConsumerThatLeftWhereTheOthersLeave) {
  job.beat_in_rounds(1, {.round = 30});
  job.leave(2, 0, {{first, 30}});
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 30, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 30u);
  EXPECT_EQ(losses().elements, 0u);
}

TEST_F(JobRounds, CountsOfASuccessorThatDiesNoRoundsFromBeforeItsEpoch) {
  replaces_at_50();
  EXPECT_EQ(losses().elements, 50u) << "consumer 2 has never reported";
  job.open_seat(1, 4, true);
  job.beat_in_rounds(1, {.round = 50, .answers = 3});
  ASSERT_EQ(job.state().rounds().epoch().number, 3u);
  EXPECT_EQ(losses().elements, 50u) << "no round passed";
}

TEST_F(JobRounds, TakesNoReportOfASuccessorFromBeforeItsEpochForItsPlace) {
  replaces_at_50();
  job.beat_in_rounds(3, {.round = 0}); // it was sent before the epoch was announced to consumer 3
  job.beat_in_rounds(1, {.round = 60});
  job.open_seat(1, 4, true);
  job.beat_in_rounds(1, {.round = 60, .answers = 3});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 60u);
  EXPECT_EQ(losses().elements, 60u);
}

TEST_F(JobRounds, CountsOfATaskThatLeftNoRowsBeyondTheRoundsThatWereMissed) {
  for (const auto& x : job.came(worker(2)).starts) job.started(x);
  job.beat_in_rounds(2, {.round = 10});
  job.ended(task_end{.id = first,
                     .life = first_life,
                     .outcome = task_outcome::left,
                     .held = {{consumer_id{2}, {.received = 100, .handed_out = 10}}}});
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 12, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 12u);
  EXPECT_EQ(losses().elements, 2u);
}

TEST_F(JobRounds, CountsWhatWasMissedThoughTheDispatcherIsStartedAgainMeanwhile) {
  job.beat_in_rounds(2, {.round = 10});
  job.beat_in_rounds(1, {.round = 5000});
  job.open_seat(1, 3, true);
  job.restart({worker(1)});
  job.beat_in_rounds(1, {.round = 5000, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 5000u);
  EXPECT_EQ(losses().elements, 4990u);
  job.restart({worker(1)});
  EXPECT_EQ(losses().elements, 4990u);
}

TEST_F(JobRounds, CountsNoMoreThanIsSentAheadOfAConsumerThatItHasNoReportOf) {
  job.beat_in_rounds(2, {.round = 4999});
  job.beat_in_rounds(1, {.round = 5000});
  job.restart({worker(1)});
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 5000, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 5000u);
  EXPECT_EQ(losses().elements, 1024u);
}

TEST_F(JobRounds, CountsFromAReportToTheDispatcherThatWasStartedAgain) {
  job.beat_in_rounds(1, {.round = 5000});
  job.restart({worker(1)});
  job.beat_in_rounds(2, {.round = 4999});
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 5000, .answers = 2});
  EXPECT_EQ(losses().elements, 1u);
}

TEST_F(JobRounds, SaysAlsoWhereAWorkerWasLostWhatAConsumerThatIsGoneHasMissed) {
  EXPECT_EQ(describe({.tasks = 1, .elements = 20}, sharding_policy::off),
            "this epoch is incomplete: 1 worker was lost while they read, so that as many copies "
            "of the dataset ended early; up to 20 elements were with a trainer that is gone, which "
            "may have been given them");
  EXPECT_EQ(describe({.tasks = 2}, sharding_policy::off),
            "this epoch is incomplete: 2 workers were lost while they read, so that as many copies "
            "of the dataset ended early");
}

TEST_F(JobRounds, CountsWhatAConsumerThatIsGoneHasMissedWhenTheLastOneLeaves) {
  job.beat_in_rounds(2, {.round = 10});
  job.beat_in_rounds(1, {.round = 20});
  job.open_seat(1, 3, true);
  job.leave(3);
  job.leave(1, 0, {{first, 30}});
  EXPECT_EQ(losses().elements, 20u);
}

TEST_F(JobRounds, CountsWhatAConsumerThatIsGoneHasMissedWhenOnlyOneThatWaitsIsLeft) {
  job.beat_in_rounds(2, {.round = 10});
  job.beat_in_rounds(1, {.round = 20});
  job.open_seat(1, 3, true);
  for (const auto& x : job.leave(1, 0, {{first, 30}}).starts) job.started(x);
  job.open_seat(0, 4);
  EXPECT_EQ(losses().elements, 20u);
}

TEST_F(JobRounds, CountsNothingOfConsumersThatAllLeaveInOrder) {
  job.beat_in_rounds(1, {.round = 20});
  job.leave(2, 0, {{first, 28}});
  job.leave(1, 0, {{first, 30}});
  EXPECT_EQ(losses().elements, 0u);
}

/// A job under DYNAMIC with the consumers 1 and 2, whose task was leased splits of which each gives
/// a part of a batch.
class JobRoundsOfBatches : public testing::Test {
protected:
  JobRoundsOfBatches() {
    const auto start = job.open_seat(0, 1).starts.at(0);
    job.started(start);
    job.open_seat(1, 2);
    task = start.what;
    for (uint64_t n = 0; leased < 100; ++n) leased += job.ask(task, {0, 0, n}).value()->count;
  }
  static split_plan batches() {
    auto out = one_source(1000);
    out.rows = {.in_order = true};
    return out;
  }
  /// The receipt of a consumer that was handed all rows but those of the last splits.
  split_receipt all_but(uint64_t last) const {
    return {.task = task.id,
            .reached = {{0, 0, {0, leased - last}}},
            .newest = split_run{0, 0, {leased - last - 1, 1}}};
  }
  uint64_t lost() const {
    return job.core.record().losses_of(job.core.record().repetitions().at(0)).splits;
  }

  driven_job job{{.id = job_id{1},
                  .name = "train",
                  .policy = sharding_policy::dynamic,
                  .plan = batches(),
                  .timing = {1s, 5s},
                  .num_consumers = 2},
                 {worker(1)}};
  task_order task;
  uint64_t leased = 0;
};

TEST_F(JobRoundsOfBatches, CountAsLostOnlyWhatWasNotHandedOutWhereAllConsumersLeave) {
  job.leave(1, 0, {{task.id, 80}}, {all_but(10)});
  job.leave(2, 0, {{task.id, 80}}, {all_but(11)});
  EXPECT_EQ(lost(), 12u) << "and the one whose batch came last";
}

TEST_F(JobRoundsOfBatches, CountAsLostOnlyWhatWasNotHandedOutWhereAConsumerWaitsForItsFirstEpoch) {
  job.open_seat(1, 3, true);
  job.lost(worker_id{1});
  job.beat(3, 0, {{.task = task.id}});
  job.beat(1, 0, {all_but(10)});
  EXPECT_EQ(lost(), 11u);
}

TEST_F(JobRoundsOfBatches, CountAsLostNothingThatALeavingTaskGaveBack) {
  job.beat(1);
  job.left(task, {{0, 0, 0, {}}});
  job.beat(1, 0, {all_but(leased - 1)});
  job.beat(2, 0, {all_but(leased - 1)});
  const auto back = leased - job.core.record().repetitions().at(0).splits.leased();
  EXPECT_GT(back, 0u);
  EXPECT_EQ(lost(), leased - back);
}

/// A job whose rounds are shared by two consumers.
driven_job rounds_of_two(std::vector<worker_info> present,
                         sharding_policy policy = sharding_policy::off) {
  return {{.id = job_id{1},
           .name = "train",
           .policy = policy,
           .plan = one_source(10),
           .timing = {1s, 5s},
           .num_consumers = 2},
          std::move(present)};
}

/// A worker that serves only the process `place`.
worker_info beside(uint64_t place, uint64_t id) {
  auto out = worker(id);
  out.place = place;
  out.tags = {"COLOCATED"};
  return out;
}

std::vector<task_id> tasks_of(const round_epoch& epoch) {
  std::vector<task_id> out;
  for (const auto& x : epoch.tasks) out.push_back(x.task);
  return out;
}

TEST(RoundsOfTwo, StopsATaskThatWasBegunAnewWhileItsWorkerWasAway) {
  auto job = rounds_of_two({worker(1)});
  const auto first = job.open_seat(0, 1).starts.at(0);
  job.started(first);
  job.open_seat(1, 2);
  ASSERT_EQ(job.state().rounds().epoch().number, 1u);
  job.restart({});
  job.open_seat(0, 3, true);
  job.open_seat(1, 4, true);
  ASSERT_FALSE(job.state().tasks().at(first.what.id).alive());
  const auto out = job.came(worker(1));
  ASSERT_EQ(out.starts.size(), 1u);
  EXPECT_NE(out.starts[0].what.id, first.what.id);
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].task, first.what.id);
}

TEST(RoundsOfTwo, AreServedByWorkersThatAllConsumersRead) {
  for (auto policy : {sharding_policy::off, sharding_policy::dynamic}) {
    auto job = rounds_of_two({beside(7, 1), worker(2)}, policy);
    const auto begun = job.open_seat(0, 1, false, 7).starts;
    for (const auto& x : begun) job.started(x);
    for (const auto& x : job.open_seat(1, 2, false, 8).starts) job.started(x);
    const auto& epoch = job.state().rounds().epoch();
    ASSERT_EQ(epoch.tasks.size(), 1u);
    EXPECT_EQ(job.state().tasks().at(epoch.tasks[0].task).worker.id, worker_id{2});
    EXPECT_EQ(job.state().tasks().size(), 1u) << "nobody would be handed what the other makes";
  }
}

TEST(RoundsOfTwo, AreServedByTheWorkerOfAProcessInWhichAllConsumersAre) {
  auto job = rounds_of_two({beside(7, 1), worker(2)});
  for (const auto& x : job.open_seat(0, 1, false, 7).starts) job.started(x);
  for (const auto& x : job.open_seat(1, 2, false, 7).starts) job.started(x);
  EXPECT_EQ(job.state().rounds().epoch().tasks.size(), 2u);
}

TEST(RoundsOfTwo, GoOnWithoutAWorkerThatTheConsumerInThePlaceOfAnotherDoesNotRead) {
  for (auto policy : {sharding_policy::off, sharding_policy::dynamic}) {
    auto job = rounds_of_two({beside(7, 1), worker(2)}, policy);
    for (const auto& x : job.open_seat(0, 1, false, 7).starts) job.started(x);
    for (const auto& x : job.open_seat(1, 2, false, 7).starts) job.started(x);
    const auto both = tasks_of(job.state().rounds().epoch());
    ASSERT_EQ(both.size(), 2u);
    const auto gone = job.state().tasks().at(both[0]).worker.id == worker_id{1} ? both[0] : both[1];
    const auto out = job.open_seat(1, 3, true, 8);
    ASSERT_EQ(out.stops.size(), 1u);
    EXPECT_EQ(out.stops[0].task, gone);
    job.beat_in_rounds(1, {.round = 4, .answers = 2});
    ASSERT_EQ(job.state().rounds().epoch().number, 2u);
    EXPECT_EQ(job.state().rounds().epoch().tasks.size(), 1u);
    // A consumer of that process is back, so that the worker has a task again.
    const auto back = job.open_seat(1, 4, true, 7);
    ASSERT_EQ(back.starts.size(), 1u);
    EXPECT_EQ(back.starts[0].worker, worker_id{1});
    EXPECT_NE(back.starts[0].what.id, gone);
  }
}

} // namespace
} // namespace headrace::detail::test
