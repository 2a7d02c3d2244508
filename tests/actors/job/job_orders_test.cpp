#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

// Orders to workers that are repeated until they are acknowledged.

TEST(JobOrders, AsksAWorkerThatDoesNotAnswerAgainUntilItsLeaseEnds) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(x.not_started(task).starts.empty());
    EXPECT_EQ(x.state().tasks().at(task.what.id).state, iteration::task_state::starting);
    EXPECT_EQ(x.pass(1s).starts.size(), 1u);
  }
  x.lost(worker_id{1});
  EXPECT_EQ(x.state().tasks().at(task.what.id).state, iteration::task_state::lost);
  EXPECT_TRUE(x.pass(3s).starts.empty());
}

TEST(JobOrders, GivesNoNewTaskToAWorkerThatIsAboutToLeave) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1), worker(2)}};
  const auto begun = x.open(1).starts;
  ASSERT_EQ(begun.size(), 2u);
  for (const auto& one : begun) x.started(one);
  auto leaves = worker(1);
  leaves.draining = true;
  EXPECT_TRUE(x.came(leaves).stops.empty()) << "what it has goes on";
  const auto next = x.open(1, 1).starts;
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].worker, worker_id{2});
  EXPECT_TRUE(x.came(leaves).starts.empty()) << "its connection was lost";
  const auto again = x.restart({leaves, worker(2)}).starts;
  for (const auto& one : again)
    if (one.worker == worker_id{1}) {
      EXPECT_EQ(one.what.repetition, 0u) << "a task that it has";
    }
}

TEST(JobOrders, TakesAStartThatIsAnsweredLate) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.not_started(task);
  x.started(task);
  EXPECT_EQ(x.state().tasks().at(task.what.id).state, iteration::task_state::running);
  EXPECT_TRUE(x.pass(3s).starts.empty());
}

TEST(JobOrders, StartsATaskOfWhichTheOrderWasLostWithAConnection) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  const auto again = x.came(worker(1));
  ASSERT_EQ(again.starts.size(), 1u);
  EXPECT_EQ(again.starts[0].what.id, task.what.id);
}

TEST(JobOrders, NamesItsReadersToItsTasksUntilThatIsAcknowledged) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  EXPECT_THAT(task.what.readers.consumers, testing::ElementsAre(consumer_id{1}));
  x.started(task);
  const auto joined = x.open(2).named;
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].who.task, task.what.id);
  EXPECT_THAT(joined[0].who.consumers, testing::ElementsAre(consumer_id{1}, consumer_id{2}));
  EXPECT_GT(joined[0].who.version, task.what.readers.version);
  x.served(joined[0], false);
  const auto again = x.pass(1s).named;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].who, joined[0].who);
  x.served(again[0], true);
  EXPECT_TRUE(x.pass(1s).named.empty());
}

TEST(JobOrders, NamesAReaderThatIsSilentForALeaseNoMore) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  x.open(2);
  x.pass(4s);
  x.beat(2);
  const auto named = x.pass(2s).named;
  ASSERT_FALSE(named.empty());
  EXPECT_THAT(named.back().who.consumers, testing::ElementsAre(consumer_id{2}));
}

TEST(JobOrders, SaysToItsTasksHowFarAReaderWasThatLeftInOrder) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  x.open(2);
  const auto named = x.leave(1, 0, {{task.what.id, 50}}).named;
  ASSERT_EQ(named.size(), 1u);
  EXPECT_THAT(named[0].who.consumers, testing::ElementsAre(consumer_id{2}));
  EXPECT_EQ(named[0].who.departed, (std::map<consumer_id, uint64_t>{{consumer_id{1}, 50}}));
}

TEST(JobOrders, SaysHowFarAReaderWasThatLeftUntilTheTaskKnowsIt) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  x.open(2);
  const auto first = x.leave(1, 0, {{task.what.id, 50}}).named.at(0);
  x.open(3);
  const auto second = x.leave(3, 0, {{task.what.id, 0}}).named.at(0);
  EXPECT_EQ(second.who.departed.size(), 2u);
  x.served(first, true);
  EXPECT_EQ(x.open(4).named.at(0).who.departed,
            (std::map<consumer_id, uint64_t>{{consumer_id{3}, 0}}));
  x.served(second, true);
  EXPECT_TRUE(x.open(5).named.at(0).who.departed.empty());
}

TEST(JobOrders, ForwardsABoundedNumberOfGoodbyesOfStrangers) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  for (uint64_t id = 1000; id < 4000; ++id) x.leave(id, 0, {{task.what.id, 1}});
  EXPECT_EQ(x.leave(1, 0, {{task.what.id, 2}}).named.back().who.departed.size(), 1025u);
}

TEST(JobOrders, SaysToItsTasksHowFarAReaderWasThatItHadGivenUpBeforeItsGoodbyeCame) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  x.open(2);
  for (int i = 0; i < 6; ++i) {
    x.beat(2);
    x.pass(1s);
  }
  ASSERT_FALSE(x.state().consumers().contains(consumer_id{1}));
  const auto out = x.leave(1, 0, {{task.what.id, 4}});
  EXPECT_EQ(out.how().code(), status_code::not_found);
  ASSERT_EQ(out.named.size(), 1u);
  EXPECT_EQ(out.named[0].who.departed, (std::map<consumer_id, uint64_t>{{consumer_id{1}, 4}}));
  x.served(out.named[0], false);
  const auto again = x.pass(1s).named;
  ASSERT_EQ(again.size(), 1u) << "it is said until it is acknowledged";
  EXPECT_EQ(again[0].who, out.named[0].who);
}

TEST(JobOrders, StopsATaskUntilThatIsAcknowledged) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  x.lost(worker_id{1});
  auto stops = x.came(worker(1)).stops;
  ASSERT_EQ(stops.size(), 1u);
  x.stopped(stops[0], false);
  stops = x.pass(1s).stops;
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].task, task.what.id);
  x.stopped(stops[0], true);
  EXPECT_TRUE(x.pass(3s).stops.empty());
}

} // namespace
} // namespace headrace::detail::test
