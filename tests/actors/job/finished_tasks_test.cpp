#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::IsEmpty;
using namespace std::chrono_literals;

/// Two workers, each with a task of one repetition. The first task fails, so that the other one is
/// ordered to stop.
struct failed_repetition {
  explicit failed_repetition(bool started = true)
    : job(sharding_policy::dynamic, 10, {worker(1), worker(2)}) {
    tasks = job.open(1).starts;
    job.started(tasks.at(0));
    if (started)
      job.started(tasks.at(1));
    else
      job.not_started(tasks.at(1));
    stops = job.ended(tasks[0].what, invalid_argument("bad row")).stops;
  }
  driven_job job;
  std::vector<job_command::start_task> tasks;
  std::vector<job_command::stop_task> stops;
};

TEST(FinishedTasks, AreStoppedOnAWorkerThatRegistersAfterARestart) {
  failed_repetition x;
  x.job.restart({});
  const auto out = x.job.came(worker(2));
  EXPECT_THAT(out.starts, IsEmpty());
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].task, x.tasks[1].what.id);
}

TEST(FinishedTasks, AreStoppedByACoreThatTakesOver) {
  failed_repetition x;
  const auto out = x.job.restart({worker(1), worker(2)});
  EXPECT_THAT(out.starts, IsEmpty());
  ASSERT_EQ(out.stops.size(), 1u) << "the earlier core may have ended before it sent the order";
  EXPECT_EQ(out.stops[0].task, x.tasks[1].what.id);
}

TEST(FinishedTasks, AreNotStartedAgainOnceTheyWereStopped) {
  failed_repetition x{false};
  ASSERT_EQ(x.stops.size(), 1u);
  x.job.stopped(x.stops[0], true);
  EXPECT_THAT(x.job.pass(2s).starts, IsEmpty());
  EXPECT_THAT(x.job.came(worker(2)).starts, IsEmpty()) << "its connection was lost";
}

TEST(FinishedTasks, AreNotStartedByAWorkerThatLacksTheGraph) {
  const std::string large(size_t{1} << 20, 'g');
  driven_job job{{.id = job_id{1},
                  .name = "train",
                  .policy = sharding_policy::dynamic,
                  .graph = buffer::copy_of(large.data(), large.size()),
                  .plan = one_source(10),
                  .timing = {1s, 5s}},
                 {worker(1), worker(2)}};
  const auto tasks = job.open(1).starts;
  ASSERT_FALSE(tasks.at(1).with_graph);
  job.started(tasks[0]);
  job.ended(tasks[0].what, invalid_argument("bad row"));
  EXPECT_THAT(job.started(tasks[1], not_found("no graph")).starts, IsEmpty());
}

TEST(FinishedTasks, AreStoppedIfTheyStartLate) {
  failed_repetition x{false};
  x.job.stopped(x.stops.at(0), true);
  const auto late = x.job.started(x.tasks[1]);
  ASSERT_EQ(late.stops.size(), 1u) << "the order to start was repeated, and came after the stop";
  EXPECT_EQ(late.stops[0].task, x.tasks[1].what.id);
}

TEST(FinishedTasks, AreNotNamedTheirReaders) {
  failed_repetition x;
  EXPECT_THAT(x.job.open(2).named, IsEmpty());
}

} // namespace
} // namespace headrace::detail::test
