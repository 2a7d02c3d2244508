#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace headrace::detail::test {
namespace {

// These tests stop processes for longer than a lease and continue them, as happens when a host is
// suspended or busy, or in a debugger.

const std::vector<std::string> short_leases{"--heartbeat", "100ms", "--lease", "1s"};

bool all_alive(const service_status& now) {
  return std::ranges::all_of(now.workers, &worker_status::alive);
}

class AwayWorker : public testing::Test {
protected:
  AwayWorker() { await_workers(dispatcher.address, 2); }
  dataset_iterator read_range(int64_t total, sharding_policy mode) {
    return dataset::range(total)
      .apply(distribute{{.processing_mode = mode, .service = dispatcher.address}})
      .iterate();
  }
  /// Stops one of the workers until its lease has expired, and continues it.
  void leave_one_for_a_lease() {
    away.process.kill(SIGSTOP);
    EXPECT_TRUE(shows(dispatcher.address, std::not_fn(all_alive)));
    away.process.kill(SIGCONT);
    EXPECT_TRUE(shows(dispatcher.address, all_alive));
  }

  server_process dispatcher = start_dispatcher(short_leases);
  server_process away = start_worker(dispatcher.address);
  server_process stays = start_worker(dispatcher.address);
};

TEST_F(AwayWorker, UnderOffGoesOnWithItsCopyWhenItIsBack) {
  constexpr int64_t total = 3'000'000;
  auto it = read_range(total, sharding_policy::off);
  std::vector<uint8_t> times(total);
  size_t rows = 0;
  bool left = false;
  while (auto some = it.next_block()) {
    ASSERT_TRUE(some->errors.empty());
    const auto& column = some->columns.at(0);
    for (auto x :
         column.values<int64_t>().subspan(static_cast<size_t>(column.first_value(0)), some->rows))
      ++times.at(static_cast<size_t>(x));
    rows += some->rows;
    if (rows > total / 10 && !std::exchange(left, true))
      leave_one_for_a_lease();
  }
  EXPECT_TRUE(left);
  EXPECT_EQ(rows, 2u * total);
  EXPECT_EQ(std::ranges::count(times, 2), total);
}

TEST_F(AwayWorker, UnderDynamicTakesAtMostWhatItHeldAndNothingComesTwice) {
  constexpr int64_t total = 3'000'000;
  auto it = read_range(total, sharding_policy::dynamic);
  once seen{total};
  bool left = false;
  while (auto some = it.next_block()) {
    seen.add(*some);
    if (seen.count() > total / 10 && !std::exchange(left, true))
      leave_one_for_a_lease();
  }
  EXPECT_TRUE(left);
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  // When the worker was lost, at most a quarter of the range was leased to its task.
  EXPECT_GE(seen.count(), static_cast<size_t>(total) * 3 / 4);
}

/// Waits until a lease of this length has passed: starts another dispatcher with one worker, kills
/// the worker, and waits until that dispatcher counts the worker as lost.
void let_a_lease_pass(const std::string& length) {
  auto dispatcher = start_dispatcher({"--heartbeat", "100ms", "--lease", length});
  auto victim = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  victim.process.kill(SIGKILL);
  EXPECT_TRUE(shows(dispatcher.address, std::not_fn(all_alive)));
}

TEST(AwayDispatcher, LosesNobodyAndEachElementComesOnce) {
  constexpr int64_t total = 3'000'000;
  auto dispatcher = start_dispatcher(short_leases);
  auto a = start_worker(dispatcher.address);
  auto b = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  auto it = dataset::range(total)
              .apply(distribute{
                {.processing_mode = sharding_policy::dynamic, .service = dispatcher.address}})
              .iterate();
  once seen{total};
  bool left = false;
  while (auto some = it.next_block()) {
    seen.add(*some);
    if (seen.count() <= total / 10 || std::exchange(left, true))
      continue;
    dispatcher.process.kill(SIGSTOP);
    let_a_lease_pass("1500ms");
    dispatcher.process.kill(SIGCONT);
  }
  EXPECT_TRUE(left);
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  const auto now = get_service_status(dispatcher.address, patience);
  ASSERT_TRUE(now) << to_string(now.status());
  ASSERT_EQ(now->jobs.size(), 1u);
  for (const auto& task : now->jobs[0].tasks) EXPECT_NE(task.state, "lost");
}

} // namespace
} // namespace headrace::detail::test
