#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace headrace::test {
namespace {

dataset read_together(const dataset& what, const std::string& dispatcher, const std::string& job) {
  return what.apply(distribute(
    {.processing_mode = sharding_policy::dynamic, .service = dispatcher, .job_name = job}));
}

TEST(Dynamic, GivesTenMillionElementsOnceWhileAWorkerJoinsAndAConsumerPauses) {
  constexpr int64_t total = 10'000'000;
  auto dispatcher = start_dispatcher();
  std::vector<server_process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker(dispatcher.address));
  if (auto how = await_service_workers(dispatcher.address, 3, patience); !how)
    FAIL() << to_string(how);
  const auto what = dataset::range(total);
  auto pausing = read_together(what, dispatcher.address, "both").iterate();
  auto steady = read_together(what, dispatcher.address, "both").iterate();
  once seen{total};
  const auto read = [&](dataset_iterator& from) {
    auto rows = from.next_block();
    return rows ? seen.add(*rows) : 0;
  };
  // Both read, then one stops until the other has got a third of all; from there on both read
  // again.
  ASSERT_GT(read(pausing), 0u);
  size_t alone = 0;
  while (alone < total / 3) {
    const auto n = read(steady);
    ASSERT_GT(n, 0u) << "the end came after " << alone;
    alone += n;
  }
  workers.push_back(start_worker(dispatcher.address));
  if (auto how = await_service_workers(dispatcher.address, 4, patience); !how)
    FAIL() << to_string(how);
  bool more = true;
  while (more) {
    const bool a = read(pausing) > 0;
    const bool b = read(steady) > 0;
    more = a || b;
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
}

TEST(Dynamic, EndsWithoutRepeatingWhenAWorkerIsKilled) {
  constexpr int64_t total = 1'000'000;
  auto dispatcher = start_dispatcher({"--heartbeat", "200ms", "--lease", "1s"});
  std::optional<server_process> victim{start_worker(dispatcher.address)};
  auto other = start_worker(dispatcher.address);
  if (auto how = await_service_workers(dispatcher.address, 2, patience); !how)
    FAIL() << to_string(how);
  auto it = read_together(dataset::range(total), dispatcher.address, {}).iterate();
  once seen{total};
  bool killed = false;
  while (auto rows = it.next_block()) {
    seen.add(*rows);
    if (!killed && seen.count() > total / 10) {
      victim->process.kill(SIGKILL);
      killed = true;
    }
  }
  EXPECT_TRUE(killed);
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  // Lost is at most what one worker may hold: most of the epoch comes from the one that lives.
  EXPECT_GT(seen.count(), static_cast<size_t>(total) / 2);
}

} // namespace
} // namespace headrace::test
