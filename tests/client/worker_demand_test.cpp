#include "headrace/client/worker_demand.hpp"

#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;

/// The status of a job whose trainers would take `demand` elements a second together, and whose
/// workers make `capacity` each, with some noise.
service_status simulated(double demand, double capacity, uint32_t workers, double noise) {
  const auto most = workers * capacity;
  const auto rate = std::min(demand, most) * noise;
  service_status out;
  auto& job = out.jobs.emplace_back(job_status{.job = 1, .name = "train", .state = "running"});
  trainer_status trainer{.consumer = 1, .name = "a"};
  trainer.waited = std::clamp(1 - rate / demand, 0., 1.);
  job.trainers.push_back(trainer);
  for (uint32_t i = 0; i < workers; ++i) {
    task_status task{.task = i + 1, .worker = i + 1, .state = "running"};
    task.elements_per_second = rate / workers;
    operator_status op{.name = "map(f)"};
    op.busy = std::clamp(rate / most, 0., 1.);
    op.output = 1 - op.busy;
    task.operators.push_back(op);
    job.tasks.push_back(task);
  }
  return out;
}

TEST(WorkerDemand, SettlesWithinOneOfTheRightNumberInAMinuteAndDoesNotSwing) {
  std::mt19937_64 random{test::test_seed()};
  const auto between = [&](double a, double b) {
    return std::uniform_real_distribution<>{a, b}(random);
  };
  for (int round = 0; round < 500; ++round) {
    const uint32_t most = 16;
    const double capacity = between(10, 1'000), demand = capacity * between(0.2, 15);
    const auto right =
      std::clamp<uint32_t>(static_cast<uint32_t>(std::ceil(demand / capacity)), 1, most);
    auto workers = static_cast<uint32_t>(between(1, 8.9));
    worker_demand x{{.least = 1, .most = most}};
    std::vector<uint32_t> seen;
    for (int second = 0; second < 240; ++second) {
      const auto wanted = x.look(simulated(demand, capacity, workers, between(0.96, 1.04)), workers,
                                 time_point{1h + 1s * second});
      workers = wanted; // as started or stopped at once
      seen.push_back(workers);
    }
    const auto what = fmt::format("demand {} of {}: {} is right", demand, capacity, right);
    int changes = 0;
    for (size_t i = 60; i < seen.size(); ++i) {
      ASSERT_LE(std::abs(static_cast<int>(seen[i]) - static_cast<int>(right)), 1)
        << what << ", and there are " << seen[i] << " after " << i << " s";
      changes += seen[i] != seen[i - 1];
    }
    EXPECT_LE(changes, 2) << what << ": it swings";
  }
}

TEST(WorkerDemand, FollowsADemandThatChanges) {
  worker_demand x{{.least = 1, .most = 8}};
  uint32_t workers = 1;
  const auto run = [&](double demand, int from, int to) {
    for (int second = from; second < to; ++second)
      workers = x.look(simulated(demand, 100, workers, 1), workers, time_point{1h + 1s * second});
  };
  run(550, 0, 60);
  EXPECT_EQ(workers, 6u);
  run(150, 60, 120);
  EXPECT_LE(workers, 3u);
  EXPECT_GE(workers, 2u);
  run(2'000, 120, 180);
  EXPECT_EQ(workers, 8u) << "as many as there may be";
}

TEST(WorkerDemand, KeepsWhatThereIsWhileNothingIsKnown) {
  worker_demand x{{.least = 2, .most = 8}};
  service_status starting;
  starting.jobs = {{.job = 1, .state = "running"}};
  starting.jobs[0].trainers = {{.consumer = 1}};
  for (int second = 0; second < 100; ++second)
    EXPECT_EQ(x.look(starting, 5, time_point{1h + 1s * second}), 5u);
}

TEST(WorkerDemand, BeginsWithOneWorkerWhereATrainerWaitsForAny) {
  worker_demand x{{.least = 0, .most = 8}};
  service_status waits;
  waits.jobs = {{.job = 1, .state = "running"}};
  waits.jobs[0].trainers = {{.consumer = 1, .waited = 1}};
  uint32_t workers = 0;
  for (int second = 0; second < 20; ++second)
    workers = x.look(waits, workers, time_point{1h + 1s * second});
  EXPECT_EQ(workers, 1u);
}

TEST(WorkerDemand, LeavesTheLeastWhereNoJobRuns) {
  worker_demand x{{.least = 2, .most = 8}};
  uint32_t workers = 7;
  for (int second = 0; second < 60; ++second)
    workers = x.look(service_status{}, workers, time_point{1h + 1s * second});
  EXPECT_EQ(workers, 2u);
}

} // namespace
} // namespace headrace
