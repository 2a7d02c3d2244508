#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/node/node.hpp"
#include "tests/cluster/processes.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <utility>

namespace headrace::detail::test {
namespace {

/// The service has a worker in another process, and one in this process.
TEST(LocalReads, LeaveNothingToAWorkerOfAnotherProcess) {
  const auto here = node::process().value();
  auto dispatcher = start_dispatcher();
  auto other = start_worker(dispatcher.address);
  worker_server own{{.dispatcher = dispatcher.address, .serves_own_process = true}};
  await_workers(dispatcher.address, 2);
  constexpr int64_t total = 100'000;
  const auto read = [&](target_workers targets) {
    once seen{total};
    auto it = dataset::range(total)
                .apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                   .service = dispatcher.address,
                                   .target_workers = targets}})
                .iterate();
    while (auto some = it.next_block()) seen.add(*some);
    EXPECT_EQ(seen.count(), static_cast<size_t>(total));
    EXPECT_EQ(seen.wrong(), 0u);
  };
  read(target_workers::local);
  EXPECT_EQ(here->links().metrics().count(link_metric::connected), 0u);
  EXPECT_EQ(here->links().metrics().count(link_metric::bytes_in), 0u);
  read(target_workers::any);
  EXPECT_EQ(here->links().metrics().count(link_metric::connected), 1u);
}

/// A trainer that reads only from the worker in this process loses nothing when a worker in another
/// process is killed.
TEST(LocalReads, LoseNothingWithAWorkerOfAnotherProcess) {
  auto dispatcher = start_dispatcher({"--heartbeat", "100ms", "--lease", "1s"});
  auto other = start_worker(dispatcher.address);
  worker_server own{{.dispatcher = dispatcher.address,
                     .lease = std::chrono::seconds{1},
                     .serves_own_process = true}};
  await_workers(dispatcher.address, 2);
  constexpr int64_t total = 1'000'000;
  once seen{total};
  auto it = dataset::range(total)
              .apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                 .service = dispatcher.address,
                                 .target_workers = target_workers::local}})
              .iterate();
  bool killed = false;
  while (auto some = it.next_block()) {
    seen.add(*some);
    if (!std::exchange(killed, true))
      other.process.kill(SIGKILL);
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
}

} // namespace
} // namespace headrace::detail::test
