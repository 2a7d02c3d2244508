#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::IsEmpty;
using namespace std::chrono_literals;

// A worker whose lease expired, or that missed orders, registers again with the same incarnation.

TEST(ReturningWorker, KeepsItsCopyWhileNobodyReadsSoThatTheNextReaderContinuesIt) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  EXPECT_THAT(x.came(worker(1)).stops, IsEmpty());
  const auto next = x.open(2);
  ASSERT_EQ(next.starts.size(), 1u);
  EXPECT_EQ(next.starts[0].what.id, t.what.id);
}

TEST(ReturningWorker, StopsItsTaskUnderDynamicBecauseItGetsAnother) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  ASSERT_EQ(x.came(worker(1)).stops.size(), 1u);
  EXPECT_NE(x.open(2).starts.at(0).what.id, t.what.id);
}

TEST(ReturningWorker, StopsItsCopyIfItIsAboutToLeave) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.lost(worker_id{1});
  auto leaves = worker(1);
  leaves.draining = true;
  ASSERT_EQ(x.came(leaves).stops.size(), 1u) << "no reader takes anything from it";
}

TEST(ReturningWorker, StopsACopyOfWhichTheRepetitionIsFinished) {
  driven_job x{sharding_policy::off, 10, {worker(1), worker(2)}};
  const auto tasks = x.open(1).starts;
  for (const auto& t : tasks) x.started(t);
  x.lost(worker_id{1});
  x.ended(tasks[1].what);
  ASSERT_TRUE(x.state().finished());
  ASSERT_EQ(x.came(worker(1)).stops.size(), 1u);
}

TEST(ReturningWorker, KeepsItsShardWhileNobodyReads) {
  auto first = worker(1);
  first.shard = 0;
  driven_job x{{.id = job_id{1},
                .name = "train",
                .policy = sharding_policy::data,
                .plan = one_source(10),
                .timing = {1s, 5s},
                .worker_addresses = {"first"}},
               {first}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  EXPECT_THAT(x.came(first).stops, IsEmpty());
  EXPECT_EQ(x.open(2).starts.at(0).what.id, t.what.id);
}

TEST(ReturningWorker, KeepsItsCopyWhileOnlyOthersReadFromTheirWorkers) {
  const auto at_place = [](uint64_t place, uint64_t id) {
    auto out = worker(id);
    out.place = place;
    return out;
  };
  driven_job x{{.id = job_id{1},
                .name = "train",
                .plan = one_source(10),
                .timing = {1s, 5s},
                .targets = target_workers::local},
               {at_place(7, 1), at_place(8, 2)}};
  const auto first = x.open_at(7, 1).starts.at(0);
  x.started(first);
  x.started(x.open_at(8, 2).starts.at(0));
  x.leave(1);
  x.lost(worker_id{1});
  EXPECT_THAT(x.came(at_place(7, 1)).stops, IsEmpty());
  EXPECT_EQ(x.open_at(7, 3).starts.at(0).what.id, first.what.id);
}

TEST(ReturningWorker, StopsTheCopyThatItKeptOnceTheRepetitionIsFinished) {
  driven_job x{sharding_policy::off, 10, {worker(1), worker(2)}};
  const auto tasks = x.open(1).starts;
  for (const auto& t : tasks) x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  EXPECT_THAT(x.came(worker(1)).stops, IsEmpty());
  const auto over = x.ended(tasks[1].what);
  ASSERT_TRUE(x.state().finished());
  ASSERT_EQ(over.stops.size(), 1u);
  EXPECT_EQ(over.stops[0].task, tasks[0].what.id);
}

TEST(ReturningWorker, StopsTheCopyThatItKeptIfTheRepetitionIsCollected) {
  driven_job x{{.id = job_id{1},
                .name = "train",
                .policy = sharding_policy::off,
                .plan = one_source(10),
                .timing = {1s, 5s},
                .terms = {.client_timeout = 5s, .gc_timeout = 10s, .gc_check_interval = 10s}},
               {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  EXPECT_THAT(x.came(worker(1)).stops, IsEmpty());
  const auto collected = x.pass(30s);
  ASSERT_EQ(collected.stops.size(), 1u);
  EXPECT_EQ(collected.stops[0].task, t.what.id);
}

TEST(ReturningWorker, IsNotOrderedAgainToStopATaskThatGoesOn) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.leave(1);
  x.lost(worker_id{1});
  auto leaves = worker(1);
  leaves.draining = true;
  const auto stop = x.came(leaves).stops.at(0);
  x.came(worker(1));
  EXPECT_EQ(x.open(2).starts.at(0).what.id, t.what.id);
  x.stopped(stop, false);
  EXPECT_THAT(x.pass(1s).stops, IsEmpty());
}

TEST(ReturningWorker, GetsANewTaskIfItHasTheLostOneNoMore) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  EXPECT_FALSE(t.what.resumes);
  x.started(t);
  x.lost(worker_id{1});
  // A worker that a dispatcher refuses stops its tasks.
  const auto on = x.came(worker(1)).starts.at(0);
  ASSERT_EQ(on.what.id, t.what.id);
  EXPECT_TRUE(on.what.resumes);
  const auto anew = x.started(on, aborted("no more")).starts;
  ASSERT_EQ(anew.size(), 1u);
  EXPECT_NE(anew[0].what.id, t.what.id);
  EXPECT_FALSE(anew[0].what.resumes);
  x.started(anew[0]);
  x.ended(anew[0].what);
  EXPECT_TRUE(x.state().finished());
  EXPECT_EQ(x.core.record().losses_of(x.core.record().repetitions().at(0)).tasks, 1u);
}

TEST(ReturningWorker, GetsANewTaskIfItHasARunningOneNoMore) {
  for (auto policy : {sharding_policy::off, sharding_policy::dynamic}) {
    driven_job x{policy, 10, {worker(1)}};
    const auto t = x.open(1).starts.at(0);
    x.started(t);
    if (policy == sharding_policy::dynamic)
      x.ask(t.what, {0, 0, 0});
    const auto on = x.restart({worker(1)}).starts.at(0);
    ASSERT_EQ(on.what.id, t.what.id);
    const auto anew = x.started(on, aborted("no more")).starts;
    ASSERT_EQ(anew.size(), 1u);
    EXPECT_NE(anew[0].what.id, t.what.id);
    EXPECT_EQ(x.state().tasks().at(t.what.id).state, iteration::task_state::lost);
  }
}

TEST(ReturningWorker, GetsANewTaskWithTheNextReaderIfItHasTheLostOneNoMore) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto t = x.open(1).starts.at(0);
  x.started(t);
  x.lost(worker_id{1});
  const auto on = x.came(worker(1)).starts.at(0);
  x.leave(1);
  EXPECT_THAT(x.started(on, aborted("no more")).starts, IsEmpty());
  const auto again = x.open(2).starts.at(0);
  const auto anew = x.started(again, aborted("no more")).starts;
  ASSERT_EQ(anew.size(), 1u);
  EXPECT_NE(anew[0].what.id, t.what.id);
}

} // namespace
} // namespace headrace::detail::test
