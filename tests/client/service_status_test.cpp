#include "tests/client/support/own_cluster.hpp"

#include <gtest/gtest.h>

namespace headrace::test {
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

} // namespace
} // namespace headrace::test
