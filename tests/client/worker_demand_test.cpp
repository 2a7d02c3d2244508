#include "headrace/client/internal/worker_demand.hpp"

#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

/// The status of a job whose trainers would take `demand` elements a second together, and whose
/// workers make `capacity` elements a second each. `noise`: a factor of the rate.
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

/// A simulated service with the delays of a real service: shares of time are means of the last
/// seconds, and a worker that is started gives no elements in its first seconds.
class simulated_service {
public:
  static constexpr size_t window = 4;   ///< the seconds over which shares of time are means
  static constexpr size_t starting = 3; ///< the seconds that a worker needs to start
  static constexpr int checkpoint = 60; ///< the seconds from one checkpoint to the next
  /// The seconds that a checkpoint lasts. The trainers take no elements meanwhile.
  static constexpr int writing = 6;

  simulated_service(double demand, double capacity, uint32_t workers, std::mt19937_64& random)
    : demand_(demand), capacity_(capacity), random_(random), workers_(workers) {}

  void become(uint32_t workers) { workers_.resize(workers, worker{.starts = starting}); }

  /// The status after another second.
  service_status next() {
    const bool writes = ++second_ % checkpoint < writing;
    const auto runs = [](const worker& x) { return x.starts == 0; };
    for (auto& x : workers_) x.starts -= x.starts > 0;
    const auto running = static_cast<double>(std::ranges::count_if(workers_, runs));
    const auto demand = writes ? 0 : demand_;
    const auto rate = std::min(demand, running * capacity_) * between(0.96, 1.04);
    add(waited_, writes ? 0 : std::clamp(1 - rate / demand, 0., 1.));
    service_status out;
    auto& job = out.jobs.emplace_back(job_status{.job = 1, .name = "train", .state = "running"});
    trainer_status trainer{.consumer = 1, .name = "a"};
    trainer.waited = mean(waited_);
    job.trainers.push_back(trainer);
    for (size_t i = 0; i < workers_.size(); ++i) {
      auto& x = workers_[i];
      if (!runs(x))
        continue;
      add(x.busy, std::clamp(rate / (running * capacity_), 0., 1.));
      task_status task{.task = i + 1, .worker = i + 1, .state = "running"};
      operator_status op{.name = "map(f)"};
      op.busy = mean(x.busy);
      op.output = 1 - op.busy;
      op.rows_per_second = capacity_ * op.busy;
      task.operators.push_back(op);
      job.tasks.push_back(task);
    }
    return out;
  }

private:
  using seconds = std::deque<double>;
  struct worker {
    size_t starts = 0; ///< the seconds until the worker gives rows
    seconds busy;
  };
  static void add(seconds& to, double x) {
    to.push_back(x);
    if (to.size() > window)
      to.pop_front();
  }
  static double mean(const seconds& x) {
    return std::accumulate(x.begin(), x.end(), 0.) / static_cast<double>(x.size());
  }
  double between(double a, double b) { return std::uniform_real_distribution<>{a, b}(random_); }

  const double demand_, capacity_;
  std::mt19937_64& random_;
  int second_ = writing;
  seconds waited_;
  std::vector<worker> workers_;
};

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
    simulated_service service{demand, capacity, workers, random};
    worker_demand x{{.least = 1, .most = most}};
    const auto what =
      fmt::format("demand {} of {} with {} workers: {} is right", demand, capacity, workers, right);
    int ups = 0, downs = 0;
    for (int second = 0; second < 240; ++second) {
      const auto wanted = x.look(service.next(), workers, time_point{1h + 1s * second});
      ups += wanted > workers;
      downs += wanted < workers;
      workers = wanted;
      service.become(workers);
      if (second < 60)
        continue;
      ASSERT_LE(std::abs(static_cast<int>(workers) - static_cast<int>(right)), 1)
        << what << ", and there are " << workers << " after " << second << " s";
    }
    EXPECT_TRUE(ups == 0 || downs == 0)
      << what << ": " << ups << " times more, " << downs << " times fewer";
    EXPECT_LE(ups + downs, 5) << what;
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
} // namespace headrace::detail
