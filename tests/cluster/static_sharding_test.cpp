#include "tests/cluster/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <set>

namespace headrace::detail::test {
namespace {

/// A dispatcher with a list of two workers of this host and short leases, and the two workers.
struct two_listed {
  two_listed() { await_workers(dispatcher.address, 2); }
  distribute over(sharding_policy mode) const {
    return distribute{{.processing_mode = mode, .service = dispatcher.address}};
  }
  server_process dispatcher = start_dispatcher(
    {"--worker-addresses", "localhost,127.0.0.1:%port%", "--heartbeat", "100ms", "--lease", "1s"});
  server_process first = start_worker(dispatcher.address);
  server_process second = start_worker(dispatcher.address);
};

TEST(StaticSharding, ReadsTheShardOfAKilledWorkerAnewAtAnotherPort) {
  two_listed service;
  constexpr int64_t total = 2'000'000;
  auto it = dataset::range(total).apply(service.over(sharding_policy::data)).iterate();
  std::vector<uint8_t> times(total);
  std::optional<server_process> next;
  while (auto some = it.next_block()) {
    ASSERT_TRUE(some->errors.empty()) << to_string(some->errors[0].why);
    const auto& values = some->columns.at(0);
    for (auto x :
         values.values<int64_t>().subspan(static_cast<size_t>(values.first_value(0)), some->rows))
      ++times.at(static_cast<size_t>(x));
    if (!next) {
      service.first.process.kill(SIGKILL);
      ASSERT_TRUE(service.first.process.wait(patience));
      next.emplace(start_worker(service.dispatcher.address));
    }
  }
  std::set<size_t> missing, again;
  for (size_t x = 0; x < times.size(); ++x) {
    if (times[x] == 0)
      missing.insert(x % 2);
    if (times[x] > 1)
      again.insert(x % 2);
    ASSERT_LE(times[x], 2) << x;
  }
  EXPECT_TRUE(missing.empty());
  EXPECT_LE(again.size(), 1u) << "only what the killed one had comes again";
}

TEST(StaticSharding, ShowsInTheStatusWhoHasWhichEntry) {
  auto dispatcher = start_dispatcher({"--worker-addresses", "localhost,127.0.0.1:%port%"});
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  const auto now = get_service_status(dispatcher.address, patience).value();
  ASSERT_EQ(now.worker_addresses.size(), 2u);
  const auto& has = now.worker_addresses[0];
  EXPECT_EQ(has.name, "localhost");
  EXPECT_EQ(has.worker, now.workers.at(0).worker);
  EXPECT_EQ(has.address, now.workers.at(0).address);
  EXPECT_EQ(state_of(has, now), "alive");
  EXPECT_EQ(now.worker_addresses[1].name, "127.0.0.1:%port%");
  EXPECT_EQ(state_of(now.worker_addresses[1], now), "free");
}

TEST(StaticSharding, RefusesAThirdWorkerAndSaysWhoHasTheEntries) {
  two_listed service;
  auto third =
    headrace_command({"worker", "--no-restart", "--dispatcher", service.dispatcher.address}, true);
  EXPECT_TRUE(third.read_until("whose lease runs", patience));
}

} // namespace
} // namespace headrace::detail::test
