#include "headrace/client/internal/service_source.hpp"
#include "tests/client/support/own_cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace headrace::detail::test {
namespace {

/// A function that throws an exception that the engine does not catch (it is no std::exception) in
/// every `every`th call, until it has thrown `times` times. The calls by all workers are counted
/// together, so all exceptions may occur in one task.
named_function crashing(int every, int times) {
  struct counts {
    std::atomic<int> calls = 0;
    std::atomic<int> left;
  };
  auto shared = std::make_shared<counts>();
  shared->left = times;
  return [shared, every](const block& rows) -> result<block> {
    if (++shared->calls % every == 0 && shared->left.fetch_sub(1) > 0)
      throw 7;
    return rows;
  };
}

class Restarts : public testing::TestWithParam<sharding_policy> {
protected:
  distribute over(const std::string& job = {}) {
    return distribute{
      {.processing_mode = GetParam(), .service = cluster.target(), .job_name = job}};
  }
  void add_workers(int count, const worker_options& options) {
    for (int i = 0; i < count; ++i)
      workers.push_back(std::make_unique<test_worker>(cluster.target(), options));
    cluster.await_workers(workers.size());
  }
  /// The number of times that each number must occur.
  size_t copies() const { return GetParam() == sharding_policy::off ? workers.size() : 1; }
  std::vector<int64_t> expected(int64_t n) const {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < n; ++i) out.insert(out.end(), copies(), i);
    return out;
  }

  test_dispatcher cluster;
  std::vector<std::unique_ptr<test_worker>> workers;
};

class RestartsWithLeases : public Restarts {};

TEST_P(Restarts, ARunnerThatDiesInMidEpochIsRestartedAndEachElementComesOnce) {
  add_workers(2, with_function(crashing(6, 3)));
  // These are more elements than streams and tasks hold: no task is over when the status is read.
  constexpr int64_t total = 2'000'000;
  std::vector<int64_t> seen;
  auto reading = through_f(total).apply(over()).iterate();
  while (seen.size() < total / 4) {
    auto rows = reading.next_block();
    ASSERT_TRUE(rows);
    add_all(seen, *rows);
  }
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    return find_in(x.tree, "runner", [](const supervised& runner) {
      return runner.restarts != 0
             && runner.last_reason.find("no std::exception") != std::string::npos;
    });
  }));
  while (auto rows = reading.next_block()) add_all(seen, *rows);
  EXPECT_EQ(sorted(seen), expected(total));
}

TEST_P(Restarts, ARunnerThatAlwaysDiesFailsTheJobWithItsReasonAndTheServiceLivesOn) {
  add_workers(2, with_function(crashing(1, 1'000'000)));
  auto reading = through_f(1'000).apply(over()).iterate();
  auto x = reading.next();
  ASSERT_FALSE(x) << "an element came";
  EXPECT_NE(x.status().message().find("child 'runner' failed after 3 restarts within 60 s"),
            std::string::npos)
    << to_string(x.status());
  EXPECT_NE(x.status().message().find("no std::exception"), std::string::npos)
    << to_string(x.status());
  std::vector<int64_t> seen;
  auto next = dataset::range(1'000).apply(over()).iterate();
  while (auto rows = next.next_block()) add_all(seen, *rows);
  EXPECT_EQ(sorted(seen), expected(1'000));
}

TEST_P(RestartsWithLeases, ARunnerThatDiesAfterMoreLeasesThanAreKeptFailsTheJobAndSaysSo) {
  auto options = with_function(crashing(1, 1));
  options.tasks.limits.most_splits = 0;
  add_workers(1, options);
  auto reading = through_f(1'000).apply(over()).iterate();
  const auto x = reading.next();
  ASSERT_FALSE(x) << "an element came";
  for (const auto* words : {"cannot be replayed", "no std::exception"})
    EXPECT_NE(x.status().message().find(words), std::string::npos) << to_string(x.status());
  std::vector<int64_t> seen;
  auto next = through_f(1'000).apply(over()).iterate();
  while (auto rows = next.next_block()) add_all(seen, *rows);
  EXPECT_EQ(sorted(seen), expected(1'000));
}

/// The first error that the reading returns.
std::string failure_of(dataset_iterator& reading) {
  for (;;)
    if (auto x = reading.next(); !x)
      return to_string(x.status());
}

/// When a test has set the flag `word`, the next call throws an exception that the engine does not
/// catch.
struct crash_on_word {
  std::shared_ptr<std::atomic<bool>> word = std::make_shared<std::atomic<bool>>(false);
  result<block> operator()(const block& rows) const {
    if (word->exchange(false))
      throw 7;
    return rows;
  }
};

/// Maps the elements with the worker's function `f`.
dataset then_f(const dataset& of) { return of.map(named_call{"f", of.spec()}); }

dataset unordered(int64_t n) {
  return dataset::range(n).map([](expr x) { return x; }, {.calls = 2, .deterministic = false});
}

TEST_P(Restarts, ARunnerThatGivesRowsInAnyOrderIsNotReplayedAndTheTrainerLearnsWhy) {
  const crash_on_word f;
  add_workers(1, with_function(f));
  auto reading = then_f(unordered(100'000'000)).apply(over()).iterate();
  ASSERT_TRUE(reading.next().ok());
  *f.word = true;
  const auto why = failure_of(reading);
  for (const auto* words :
       {"map gives rows as they are done; with deterministic = true it can", "no std::exception"})
    EXPECT_NE(why.find(words), std::string::npos) << why;
}

TEST_P(Restarts, ARunnerThatGaveNothingYetStartsAgainInWhateverOrder) {
  add_workers(1, with_function(crashing(1, 1)));
  std::vector<int64_t> seen;
  auto reading = then_f(unordered(10'000)).apply(over()).iterate();
  while (auto rows = reading.next_block()) add_all(seen, *rows);
  EXPECT_EQ(sorted(seen), expected(10'000));
}

TEST_P(Restarts, ATaskThatGivesRowsInAnyOrderIsNotReplayedAndTheTrainerLearnsWhy) {
  add_workers(1, with_function([](const block& rows) { return result<block>{rows}; }));
  auto reading = unordered(1'000'000'000).apply(over()).iterate();
  ASSERT_TRUE(reading.next().ok());
  ASSERT_TRUE(cluster.shows([&](const service_status& x) {
    for (const auto& task : x.jobs.at(0).tasks)
      if (auto actor = workers[0]->router->task(task_id{task.task}))
        port::ask_to_exit(actor, caf::exit_reason::kill);
    return true;
  }));
  const auto why = failure_of(reading);
  for (const auto* words : {"map gives rows as they are done; with deterministic = true it can",
                            "the task's actor crashed"})
    EXPECT_NE(why.find(words), std::string::npos) << why;
}

TEST_P(Restarts, ARunnerThatReadsFromAnotherJobIsNotReplayedAndTheTrainerLearnsWhy) {
  const crash_on_word f;
  auto options = with_function(f);
  options.tasks.open_distribute =
    [](const dataset_node& node, std::stop_token stop) -> result<std::unique_ptr<element_source>> {
    HEADRACE_ASSIGN(auto out, service_source::open(node, std::move(stop)));
    return std::unique_ptr<element_source>{std::move(out)};
  };
  add_workers(1, options);
  auto reading = then_f(dataset::range(100'000'000).apply(over())).apply(over()).iterate();
  ASSERT_TRUE(reading.next().ok());
  *f.word = true;
  const auto why = failure_of(reading);
  for (const auto* words : {"distribute reads from another job", "no std::exception"})
    EXPECT_NE(why.find(words), std::string::npos) << why;
}

TEST_P(Restarts, ATaskThatDiesInMidEpochIsRestartedAndEachElementComesOnce) {
  add_workers(2, with_function([](const block& rows) { return result<block>{rows}; }));
  constexpr int64_t total = 300'000;
  std::vector<int64_t> seen;
  auto a = through_f(total).apply(over("shared")).iterate();
  auto b = through_f(total).apply(over("shared")).iterate();
  for (auto* it : {&a, &b}) {
    auto rows = it->next_block();
    ASSERT_TRUE(rows);
    add_all(seen, *rows);
  }
  std::vector<task_id> tasks;
  ASSERT_TRUE(cluster.shows([&](const service_status& x) {
    for (const auto& task : x.jobs.at(0).tasks) tasks.push_back(task_id{task.task});
    return true;
  }));
  for (auto id : tasks)
    for (const auto& worker : workers)
      if (auto task = worker->router->task(id))
        port::ask_to_exit(task, caf::exit_reason::kill);
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    return find_in(x.tree, "task ", [](const supervised& task) {
      return task.restarts == 1 && task.last_reason == "cancelled: killed";
    });
  }));
  bool more_a = true, more_b = true;
  const auto take = [&](dataset_iterator& it) {
    auto rows = it.next_block();
    if (rows)
      add_all(seen, *rows);
    return rows.has_value();
  };
  while (more_a || more_b) {
    more_a = more_a && take(a);
    more_b = more_b && take(b);
  }
  EXPECT_EQ(sorted(seen), expected(total));
}

TEST_P(Restarts, AJobThatDiesInMidEpochIsRestartedAndEachElementComesOnce) {
  add_workers(2, with_function([](const block& rows) { return result<block>{rows}; }));
  constexpr int64_t total = 300'000;
  std::vector<int64_t> seen;
  auto reading = through_f(total).apply(over("named")).iterate();
  for (uint64_t lives = 1; lives <= 3; ++lives) {
    auto rows = reading.next_block();
    ASSERT_TRUE(rows);
    add_all(seen, *rows);
    cluster.jobs.kill_all();
    EXPECT_TRUE(cluster.shows([&](const service_status& x) {
      return find_in(x.tree, "job ", [&](const supervised& job) {
        return job.restarts == lives && job.last_reason == "cancelled: killed";
      });
    }));
  }
  while (auto rows = reading.next_block()) add_all(seen, *rows);
  EXPECT_EQ(sorted(seen), expected(total));
}

TEST_P(Restarts, AJobThatAlwaysDiesFailsWithItsReasonAndItsTasksStop) {
  add_workers(1, with_function([](const block& rows) { return result<block>{rows}; }));
  auto reading = through_f(1'000'000'000).apply(over("named")).iterate();
  ASSERT_TRUE(reading.next().ok());
  for (uint32_t lives = 1; lives <= 3; ++lives) {
    cluster.jobs.kill_all();
    EXPECT_TRUE(cluster.shows([&](const service_status& x) {
      return find_in(x.tree, "job ", [&](const supervised& job) { return job.restarts == lives; });
    }));
  }
  cluster.jobs.kill_all();
  status how;
  while (how.ok()) how = reading.next().status();
  EXPECT_NE(how.message().find("failed after 3 restarts within 60 s: cancelled: killed"),
            std::string::npos)
    << to_string(how);
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    return x.jobs.empty() && !find_in(x.tree, "task ", [](const supervised&) { return true; });
  }));
}

TEST(DispatcherRestart, KeepsTheDatasetsInItsStore) {
  const auto stores = std::make_shared<dispatcher_stores>();
  const auto what = dataset::range(100);
  {
    test_dispatcher first{{}, {}, stores};
    register_dataset(first.target(), what, "hundred");
  }
  test_dispatcher second{{}, {}, stores};
  test_worker worker{second.target(), {}};
  second.await_workers(1);
  std::vector<int64_t> seen;
  auto reading =
    from_dataset_id({.processing_mode = sharding_policy::dynamic, .service = second.target()},
                    "hundred")
      .iterate();
  while (auto rows = reading.next_block()) add_all(seen, *rows);
  EXPECT_EQ(seen.size(), 100u);
}

TEST(DispatcherRestart, OfItsActorInMidEpochLosesNothingAndRepeatsNothing) {
  test_dispatcher dispatcher;
  test_worker a{dispatcher.target(), {}}, b{dispatcher.target(), {}};
  dispatcher.await_workers(2);
  constexpr int64_t total = 400'000;
  auto reading = dataset::range(total)
                   .apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                      .service = dispatcher.target(),
                                      .job_name = "train"}})
                   .iterate();
  std::vector<int64_t> seen;
  for (size_t kills = 0; auto rows = reading.next_block();) {
    add_all(seen, *rows);
    if (seen.size() > (kills + 1) * total / 4 && kills < 2) {
      ++kills;
      dispatcher.actors.kill_all();
    }
  }
  std::ranges::sort(seen);
  ASSERT_EQ(seen.size(), static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) ASSERT_EQ(seen[static_cast<size_t>(i)], i);
}

std::string mode_name(const testing::TestParamInfo<sharding_policy>& mode) {
  return mode.param == sharding_policy::off ? "Off" : "Dynamic";
}

INSTANTIATE_TEST_SUITE_P(Modes, Restarts,
                         testing::Values(sharding_policy::off, sharding_policy::dynamic),
                         mode_name);
INSTANTIATE_TEST_SUITE_P(Modes, RestartsWithLeases, testing::Values(sharding_policy::dynamic),
                         mode_name);

} // namespace
} // namespace headrace::detail::test
