#include "tests/actors/job/driven_job.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

const std::vector<worker_info> two_workers{worker(1), worker(2)};

TEST(JobCore, AsksWorkersForItsTasksWhenItTakesOver) {
  driven_job x{sharding_policy::dynamic, 10, two_workers};
  const auto tasks = x.open(1).starts;
  x.started(tasks[0]);
  const auto again = x.restart({worker(1)}).starts;
  ASSERT_EQ(again.size(), 1u) << "the other worker is not there yet";
  EXPECT_EQ(again[0].what.id, tasks[0].what.id);
  EXPECT_EQ(again[0].what.life, tasks[0].what.life);
}

TEST(JobCore, GivesWorkersThatCameWhileItWasAwayTasksWhenItTakesOver) {
  for (auto policy : {sharding_policy::dynamic, sharding_policy::off}) {
    driven_job x{policy, 10, two_workers};
    const auto tasks = x.open(1).starts;
    for (const auto& t : tasks) x.started(t);
    const auto out = x.restart({worker(1), worker(2, 9), worker(3)});
    ASSERT_EQ(out.starts.size(), 3u) << to_string(policy);
    EXPECT_EQ(out.starts[0].what.id, tasks[0].what.id);
    EXPECT_EQ(out.starts[1].worker, worker_id{2});
    EXPECT_NE(out.starts[1].what.id, tasks[1].what.id) << "another process has not what it had";
    EXPECT_EQ(x.state().tasks().at(tasks[1].what.id).state, iteration::task_state::lost);
    EXPECT_EQ(out.starts[2].worker, worker_id{3});
    x.leave(1);
    EXPECT_TRUE(x.restart({worker(4)}).starts.empty()) << "nobody reads";
  }
}

TEST(JobCore, TellsAReaderWhatItMayHaveMissedWhenItTakesOver) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  x.open(1);
  EXPECT_TRUE(x.beat(1).news.empty());
  x.restart({worker(1)});
  const auto out = x.beat(1);
  ASSERT_EQ(out.news.size(), 1u);
  EXPECT_EQ(out.news[0].to, std::vector{consumer_id{1}});
  EXPECT_TRUE(x.beat(1).news.empty()) << "once is enough";
}

TEST(JobCore, LosesWorkersThatAreNotHeardOfForALeaseAfterItTookOver) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.restart({});
  x.pass(4s);
  x.beat(1);
  EXPECT_TRUE(x.state().tasks().at(task.what.id).alive());
  x.pass(2s);
  EXPECT_FALSE(x.state().tasks().at(task.what.id).alive());
}

TEST(JobRecord, KnowsWhichTasksWorkersRun) {
  driven_job x{sharding_policy::off, 10, two_workers};
  const auto tasks = x.open(1).starts;
  x.ended(tasks[0].what);
  EXPECT_EQ(x.store.record().running(),
            (std::vector{placed_task{tasks[1].what.id, tasks[1].worker}}));
}

TEST(JobRecord, KeepsLargeReceiptsOneByOneOnlyUpToABoundOfBytes) {
  const job_description about{.id = job_id{1}};
  memory_store<job_record> store{driven_job::empty(about), 1000, 1 << 20};
  split_receipt large{.task = task_id{1}};
  large.reached.resize(16'384);
  const job_record::fact one{0,
                             lease_history::fact{lease_history::received{consumer_id{1}, large}}};
  const auto writer = store.take_over().writer;
  ASSERT_TRUE(store.append(writer, {one}, {})->ok());
  EXPECT_GE(store.bytes(), large.reached.size() * sizeof(split_run)) << "a receipt counts";
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.append(writer, {one}, {})->ok());
    EXPECT_LE(store.bytes(), size_t{1} << 20);
  }
}

} // namespace
} // namespace headrace::detail::test
