#include "tests/cluster/processes.hpp"
#include "tests/cluster/unanswering_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace headrace::detail::test {
namespace {

/// The only worker, as the status shows it.
worker_status worker_of(const std::string& dispatcher) {
  auto now = get_service_status(dispatcher, patience);
  return now && now->workers.size() == 1 ? now->workers[0] : worker_status{};
}

const std::vector<std::string> timing{"--heartbeat", "50ms", "--lease", "500ms"};

TEST(StuckThreads, EndTheProcessWithItsOwnExitCodeAtTheirBound) {
  std::array<unanswering_files, 2> files;
  auto dispatcher = start_dispatcher(timing);
  auto worker = start_worker(dispatcher.address, {"--max-stuck-threads", "2"});
  await_workers(dispatcher.address, 1);
  {
    std::vector<std::optional<dataset_iterator>> reading;
    for (auto& x : files) reading.push_back(x.read(dispatcher.address));
  }
  auto end = worker.process.wait(patience);
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(end->as_exit_code(), 76) << to_string(*end);
}

TEST(StuckThreads, EndAWorkerWithoutTasksThatCouldTakeNone) {
  unanswering_files files;
  auto dispatcher = start_dispatcher(timing);
  auto worker = start_worker(dispatcher.address, {"--max-stuck-threads", "2"});
  await_workers(dispatcher.address, 1);
  files.leave_a_thread_behind(dispatcher.address);
  auto end = worker.process.wait(patience);
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(end->as_exit_code(), 76) << to_string(*end);
}

TEST(StuckThreads, AreNotThoseThatComputeForLongerThanALease) {
  auto dispatcher = start_dispatcher({"--heartbeat", "20ms", "--lease", "200ms"});
  auto worker = start_worker(dispatcher.address, {"--max-stuck-threads", "1"});
  await_workers(dispatcher.address, 1);
  const auto quick = dataset::range(1);
  // One element, whose computation takes many times as long as a lease and checks no stop token.
  const auto slow = dataset::range(1).map([](expr x) {
    auto product = fill({400, 400}, x);
    for (int i = 0; i < 10; ++i) product = matmul(product, product);
    return reduce_sum(product);
  });
  const auto all = quick.concatenate(slow).apply(
    distribute({.processing_mode = sharding_policy::off, .service = dispatcher.address}));
  {
    auto left_behind = all.iterate();
    ASSERT_TRUE(left_behind.next());
  }
  // This reading computes the same as the thread that was left behind, but begins later. When this
  // reading ends, that thread has ended, too.
  auto reading = all.iterate();
  for (int i = 0; i < 2; ++i) {
    auto one = reading.next();
    ASSERT_TRUE(one) << to_string(one.status());
    EXPECT_TRUE(*one);
  }
  worker.process.kill(SIGTERM);
  auto end = worker.process.wait(patience);
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(end->as_exit_code(), 0) << to_string(*end);
}

TEST(StuckThreads, AreLeftByAParentThatStartsTheWorkerAgain) {
  unanswering_files files;
  auto dispatcher = start_dispatcher(timing);
  auto worker = headrace_command({"worker", "--dispatcher", dispatcher.address, "--log-level",
                                  "off", "--max-stuck-threads", "1"});
  ASSERT_TRUE(worker.read_until("listening on ", patience));
  await_workers(dispatcher.address, 1);
  const auto first = worker_of(dispatcher.address);
  files.leave_a_thread_behind(dispatcher.address);
  EXPECT_TRUE(worker.read_until("listening on ", patience)) << "it was not started again";
  const auto limit = clock::system().now() + patience;
  while (worker_of(dispatcher.address).pid == first.pid) ASSERT_LT(clock::system().now(), limit);
  EXPECT_TRUE(shows(dispatcher.address, [](const service_status& x) {
    return x.tree.size() == 2 && x.tree[1].restarts == 1
           && x.tree[1].last_reason.starts_with("exit code 76");
  }));
  auto reading =
    dataset::range(100)
      .apply(distribute({.processing_mode = sharding_policy::off, .service = dispatcher.address}))
      .iterate();
  auto rows = reading.next_block();
  EXPECT_TRUE(rows);
}

TEST(StuckThreads, AreShownInTheStatusAndDoNotHinderSigterm) {
  unanswering_files files;
  auto dispatcher = start_dispatcher(timing);
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  files.leave_a_thread_behind(dispatcher.address);
  const auto limit = clock::system().now() + patience;
  for (;;) {
    if (worker_of(dispatcher.address).stuck_threads() == 1)
      break;
    ASSERT_LT(clock::system().now(), limit) << "not in the status";
  }
  worker.process.kill(SIGTERM);
  auto end = worker.process.wait(std::chrono::seconds{2});
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(end->signal, 0) << to_string(*end);
}

} // namespace
} // namespace headrace::detail::test
