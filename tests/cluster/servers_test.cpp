#include "headrace/runtime/base/address.hpp"
#include "tests/cluster/processes.hpp"
#include "tests/support/hoarding_peers.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

namespace headrace::detail::test {
namespace {

TEST(Servers, StopOnSigtermInUnderASecondWithExitCodeZero) {
  auto dispatcher = start_dispatcher();
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  // The job is far from its end when the servers are stopped.
  auto reading = dataset::range(1'000'000'000)
                   .apply(distribute(
                     {.processing_mode = sharding_policy::dynamic, .service = dispatcher.address}))
                   .iterate();
  ASSERT_TRUE(reading.next_block());
  for (auto* server : {&worker, &dispatcher}) {
    SCOPED_TRACE(server == &worker ? "worker" : "dispatcher");
    server->process.kill(SIGTERM);
    auto end = server->process.wait(patience);
    ASSERT_TRUE(end) << to_string(end.status());
    // A server that needs more than 900 ms to stop ends itself with another exit code.
    EXPECT_EQ(*end, process_end{}) << to_string(*end);
  }
}

TEST(Servers, SayWhichPortIsInUse) {
  auto first = start_dispatcher();
  const auto port = first.address.substr(first.address.rfind(':') + 1);
  auto second = headrace_command({"dispatcher", "--no-restart", "--port", port}, true);
  auto said = second.read_until(port, patience);
  EXPECT_TRUE(said) << to_string(said.status());
  auto end = second.wait(patience);
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(end->as_exit_code(), 3) << to_string(*end);
}

TEST(Servers, WorkersAndJobsAreInTheStatus) {
  auto dispatcher = start_dispatcher();
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  auto reading = dataset::range(1'000'000'000)
                   .apply(distribute({.processing_mode = sharding_policy::dynamic,
                                      .service = dispatcher.address,
                                      .job_name = "seen_in_status"}))
                   .iterate();
  ASSERT_TRUE(reading.next_block());
  auto status = headrace_command({"status", "--dispatcher", dispatcher.address});
  EXPECT_TRUE(status.read_until(worker.address, patience)) << "no worker";
  EXPECT_TRUE(status.read_until("seen_in_status", patience)) << "no job";
  auto end = status.wait(patience);
  ASSERT_TRUE(end) << to_string(end.status());
  EXPECT_EQ(*end, process_end{}) << to_string(*end);
}

TEST(Servers, TheStatusShowsTheRateOfATask) {
  auto dispatcher = start_dispatcher({"--heartbeat", "100ms", "--lease", "60s"});
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  auto reading = dataset::range(int64_t{1} << 50)
                   .apply(distribute(
                     {.processing_mode = sharding_policy::dynamic, .service = dispatcher.address}))
                   .iterate();
  auto watched =
    headrace_command({"status", "--json", "--watch", "100ms", "--dispatcher", dispatcher.address});
  const auto until = clock::system().now() + patience;
  double rate = 0;
  while (rate == 0 && clock::system().now() < until) {
    ASSERT_TRUE(reading.next_block());
    // Reads a status only if one was written meanwhile.
    const auto line = watched.read_line(duration::zero());
    if (!line)
      continue;
    const auto shown = nlohmann::json::parse(*line);
    for (const auto& job : shown["jobs"])
      for (const auto& task : job["tasks"]) rate = task["elements_per_second"].get<double>();
  }
  EXPECT_GT(rate, 0);
}

/// The first worker that is alive; an empty status if none is.
worker_status living_worker(const service_status& x) {
  for (const auto& worker : x.workers)
    if (worker.alive)
      return worker;
  return {};
}

TEST(Servers, KilledOnesComeBackWhereTheyWereAndTheStatusSaysHowTheirEarlierLivesEnded) {
  // Both servers run under a parent process, which restarts them.
  auto dispatcher = headrace_command({"dispatcher", "--port", "0", "--log-level", "off"});
  const auto line = dispatcher.read_until("listening on ", patience).value();
  const auto where = line.substr(line.rfind(' ') + 1);
  auto worker = headrace_command({"worker", "--dispatcher", where, "--log-level", "off"});
  ASSERT_TRUE(worker.read_until("listening on ", patience));
  await_workers(where, 1);

  const auto before = living_worker(get_service_status(where, patience).value());
  ::kill(static_cast<pid_t>(before.pid), SIGKILL);
  EXPECT_TRUE(shows(where, [&](const service_status& x) {
    const auto now = living_worker(x);
    return now.pid != 0 && now.pid != before.pid && now.address == before.address
           && x.tree.size() == 2 && x.tree[1].restarts == 1
           && x.tree[1].last_reason.starts_with("signal 9");
  }));

  // The name has the form "dispatcher, process 4711".
  const auto name = get_service_status(where, patience).value().tree.at(0).name;
  ::kill(std::stoi(name.substr(name.rfind(' '))), SIGKILL);
  EXPECT_TRUE(shows(where, [&](const service_status& x) {
    return x.tree[0].name != name && x.tree[0].restarts == 1
           && x.tree[0].last_reason.starts_with("signal 9") && living_worker(x).pid != 0;
  }));
}

TEST(Servers, ADispatcherAtItsMemoryLimitEndsWith75AndComesBackOnItsPort) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer's own memory would count";
  // The dispatcher runs under a parent process, which writes why it restarts the dispatcher.
  auto dispatcher = headrace_command({"dispatcher", "--port", "0", "--memory-limit", "600M"}, true);
  const auto line = dispatcher.read_until("listening on ", patience).value();
  const auto where = line.substr(line.rfind(' ') + 1);
  auto worker = start_worker(where);
  await_workers(where, 1);
  {
    const hoarding_peers attackers{parse_address(where).value().port, size_t{700} << 20};
    ASSERT_TRUE(dispatcher.read_until("memory limit of", patience));
    ASSERT_TRUE(dispatcher.read_until("exit code 75", patience));
    ASSERT_TRUE(dispatcher.read_until("dispatcher listening on " + where, patience));
  }
  EXPECT_TRUE(shows(where, [&](const service_status& x) {
    return x.tree.at(0).restarts == 1 && x.tree[0].last_reason.starts_with("exit code 75")
           && living_worker(x).pid != 0;
  }));
  auto status = headrace_command({"status", "--dispatcher", where});
  auto tree = status.read_until("restarted 1 time, last because: exit code 75", patience);
  EXPECT_TRUE(tree) << to_string(tree.status());
}

TEST(Servers, AWorkerWaitsForItsDispatcher) {
  // Takes the port of a dispatcher that is killed, so that the worker is started before the next
  // dispatcher listens at that port.
  auto earlier = start_dispatcher();
  const auto where = earlier.address;
  earlier.process.kill(SIGKILL);
  ASSERT_TRUE(earlier.process.wait(patience));
  auto worker = start_worker(where);
  server_process dispatcher{"dispatcher", {"--port", where.substr(where.rfind(':') + 1)}};
  auto how = await_service_workers(where, 1, patience);
  EXPECT_TRUE(how) << to_string(how);
}

} // namespace
} // namespace headrace::detail::test
