#include "headrace/actors/node/roles.hpp"
#include "headrace/client/headrace.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/runtime/node/caf_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <vector>

namespace headrace {
namespace {

constexpr auto patience = std::chrono::seconds{60};

/// A worker in this process whose graphs may call the test's functions.
class test_worker {
public:
  test_worker(const std::string& dispatcher, worker_options options)
    : here_({.role = node_role::worker}) {
    auto how =
      here_.listen_data([router = router](std::shared_ptr<link> peer) { router->serve(peer); });
    if (!how)
      throw error{how};
    options.data_address = here_.data_address();
    start_worker(here_, options, parse_address(dispatcher).value(), router, {});
  }
  std::shared_ptr<stream_router> router = std::make_shared<stream_router>();

private:
  node here_;
};

/// A dispatcher in this process. Knows its jobs' actors.
class test_dispatcher {
public:
  explicit test_dispatcher(dispatcher_options options = {})
    : here_({.role = node_role::dispatcher}) {
    options.timing.heartbeat = std::chrono::milliseconds{20};
    options.on_job = [this](const caf::actor& job) {
      std::lock_guard lock{mutex_};
      jobs_.push_back(job);
    };
    auto published = listen(here_, start_dispatcher(here_, options, {}));
    if (!published)
      throw error{published.status()};
  }
  std::string target() const { return here_.actor_address(); }
  void await_workers(size_t count) const {
    if (auto how = await_service_workers(target(), count, patience); !how)
      throw error{how};
  }
  void kill_jobs() {
    std::lock_guard lock{mutex_};
    for (const auto& job : jobs_) port::ask_to_exit(job, caf::exit_reason::kill);
    jobs_.clear();
  }

private:
  std::mutex mutex_;
  std::vector<caf::actor> jobs_;
  node here_;
};

/// range(n), each number through the worker's function `f`.
dataset through_f(int64_t n) {
  auto body = std::make_shared<function>();
  body->named = "f";
  auto numbers = make_range(0, n, 1).value();
  body->argument = body->declared = numbers->spec;
  return dataset{make_map(numbers, body).value()};
}

worker_options with_function(named_function f) {
  worker_options options;
  options.find_function = [f = std::move(f)](const std::string&) { return f; };
  return options;
}

/// Throws past the engine (what is thrown is no std::exception) in every `every`th call until it
/// has done so `times` times, over all workers: all of them may meet one task.
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
  /// How often each number should come.
  size_t copies() const { return GetParam() == sharding_policy::off ? workers.size() : 1; }
  std::vector<int64_t> expected(int64_t n) const {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < n; ++i) out.insert(out.end(), copies(), i);
    return out;
  }
  /// Asks for the status until `good` finds what it looks for.
  ::testing::AssertionResult shows(const std::function<bool(const service_status&)>& good) const {
    const auto end = clock::system().now() + patience;
    while (clock::system().now() < end) {
      auto now = get_service_status(cluster.target(), patience);
      if (now && good(*now))
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "not in the status";
  }

  test_dispatcher cluster;
  std::vector<std::unique_ptr<test_worker>> workers;
};

void add_all(std::vector<int64_t>& to, const block& rows) {
  EXPECT_TRUE(rows.errors.empty()) << to_string(*rows.error_at(rows.errors[0].row));
  const auto& values = rows.columns.at(0);
  const auto all =
    values.values<int64_t>().subspan(static_cast<size_t>(values.first_value(0)), rows.rows);
  to.insert(to.end(), all.begin(), all.end());
}

std::vector<int64_t> sorted(std::vector<int64_t> x) {
  std::sort(x.begin(), x.end());
  return x;
}

/// A node of the tree with this name, at any depth, that satisfies `good`.
bool find_in(const std::vector<supervised>& tree, const std::string& name,
             const std::function<bool(const supervised&)>& good) {
  return std::any_of(tree.begin(), tree.end(), [&](const supervised& x) {
    return (x.name.starts_with(name) && good(x)) || find_in(x.children, name, good);
  });
}

TEST_P(Restarts, ARunnerThatDiesInMidEpochIsRestartedAndEachElementComesOnce) {
  add_workers(2, with_function(crashing(6, 3)));
  constexpr int64_t total = 200'000;
  std::vector<int64_t> seen;
  auto reading = through_f(total).apply(over()).iterate();
  while (seen.size() < total / 2) {
    auto rows = reading.next_block();
    ASSERT_TRUE(rows);
    add_all(seen, *rows);
  }
  EXPECT_TRUE(shows([](const service_status& x) {
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
  ASSERT_TRUE(shows([&](const service_status& x) {
    for (const auto& task : x.jobs.at(0).tasks) tasks.push_back(task_id{task.task});
    return true;
  }));
  for (auto id : tasks)
    for (const auto& worker : workers)
      if (auto task = worker->router->task(id))
        port::ask_to_exit(task, caf::exit_reason::kill);
  EXPECT_TRUE(shows([](const service_status& x) {
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
    cluster.kill_jobs();
    EXPECT_TRUE(shows([&](const service_status& x) {
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
    cluster.kill_jobs();
    EXPECT_TRUE(shows([&](const service_status& x) {
      return find_in(x.tree, "job ", [&](const supervised& job) { return job.restarts == lives; });
    }));
  }
  cluster.kill_jobs();
  status how;
  while (how.ok()) how = reading.next().status();
  EXPECT_NE(how.message().find("failed after 3 restarts within 60 s: cancelled: killed"),
            std::string::npos)
    << to_string(how);
  EXPECT_TRUE(shows([](const service_status& x) {
    return x.jobs.empty() && !find_in(x.tree, "task ", [](const supervised&) { return true; });
  }));
}

TEST(DispatcherRestart, KeepsTheDatasetsInItsStore) {
  dispatcher_options options;
  const auto what = dataset::range(100);
  {
    test_dispatcher first{options};
    register_dataset(first.target(), what, "hundred");
  }
  test_dispatcher second{options};
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

INSTANTIATE_TEST_SUITE_P(Modes, Restarts,
                         testing::Values(sharding_policy::off, sharding_policy::dynamic),
                         [](const auto& mode) {
                           return mode.param == sharding_policy::off ? "Off" : "Dynamic";
                         });

} // namespace
} // namespace headrace
