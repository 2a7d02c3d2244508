#include "tests/client/support/own_cluster.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

TEST(ServiceStatus, ShowsWhatTasksThatAreOverHaveMade) {
  test_dispatcher cluster;
  test_worker worker{cluster.target()};
  cluster.await_workers(1);
  constexpr uint64_t total = 10'000;
  std::vector<int64_t> seen;
  auto reading = dataset::range(total)
                   .apply(distribute{{.processing_mode = sharding_policy::off,
                                      .service = cluster.target(),
                                      .job_name = "kept a while"}})
                   .iterate();
  while (auto rows = reading.next_block()) add_all(seen, *rows);
  EXPECT_EQ(seen.size(), total);
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    const bool worker_forgot = !find_in(x.tree, "task ", [](const supervised&) { return true; });
    const auto& tasks = x.jobs.at(0).tasks;
    return worker_forgot && tasks.size() == 1 && tasks[0].state == "ended"
           && tasks[0].elements == total && tasks[0].bytes >= total * sizeof(int64_t);
  }));
}

TEST(ServiceStatus, CountsWhatIgnoreErrorsLeftOutWhileATaskRunsAndAfterwards) {
  test_dispatcher cluster;
  test_worker worker{cluster.target()};
  cluster.await_workers(1);
  // One third of the first 300 elements fails. All later elements fail, and there is no end.
  auto failing =
    dataset::counter().map([](expr x) { return 6 / where(x < 300, x % 3, 0); }).ignore_errors();
  const auto service = [&](const std::string& job) {
    return distribute{
      {.processing_mode = sharding_policy::off, .service = cluster.target(), .job_name = job}};
  };
  auto reading = failing.apply(service("for ever")).iterate();
  size_t rows = 0;
  while (rows < 200) rows += reading.next_block()->rows;
  EXPECT_EQ(rows, 200u);
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    const auto& task = x.jobs.at(0).tasks.at(0);
    return task.state == "running" && task.elements == 200 && task.ignored > 1'000;
  }));
  reading.stop();

  auto some = failing.take(200).apply(service("kept a while")).iterate();
  for (rows = 0; auto more = some.next_block();) rows += more->rows;
  EXPECT_EQ(rows, 200u);
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    for (const auto& job : x.jobs)
      if (job.name == "kept a while" && job.tasks.size() == 1 && job.tasks[0].state == "ended")
        return job.tasks[0].ignored == 100;
    return false;
  }));
}

} // namespace
} // namespace headrace::detail::test
