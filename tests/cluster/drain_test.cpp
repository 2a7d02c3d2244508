#include "tests/client/support/command.hpp"
#include "tests/cluster/processes.hpp"
#include "tests/cluster/terminal.hpp"
#include "tests/cluster/unanswering_files.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <utility>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

distribute dynamic(const server_process& dispatcher) {
  return distribute({.processing_mode = sharding_policy::dynamic, .service = dispatcher.address});
}

/// Drains a worker with the command line, as a user does.
std::future<outcome> drain(const server_process& dispatcher, const std::string& worker,
                           std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"drain", worker, "--dispatcher", dispatcher.address});
  return std::async(std::launch::async, [more] { return run_command(more); });
}

void expect_ended_well(server_process& worker) {
  const auto how = worker.process.wait(patience);
  ASSERT_TRUE(how) << to_string(how.status());
  EXPECT_EQ(*how, process_end{}) << to_string(*how);
}

/// A dispatcher whose leases do not expire during a test.
server_process dispatcher_of_long_leases() {
  return start_dispatcher({"--heartbeat", "100ms", "--lease", "1h"});
}

TEST(Drain, InTheMiddleOfAnEpochLosesAndRepeatsNothing) {
  constexpr int64_t total = 2'000'000;
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
  auto stays = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  once seen{total};
  std::future<outcome> said;
  auto it = dataset::range(total).apply(dynamic(dispatcher)).iterate();
  while (auto rows = it.next_block()) {
    seen.add(*rows);
    if (seen.count() > total / 10 && !said.valid())
      said = drain(dispatcher, leaves.address);
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  const auto how = said.get();
  EXPECT_EQ(how.code, exit_code::ok) << how.text;
  EXPECT_EQ(how.text, "worker 1 at " + leaves.address + " has left\n");
  expect_ended_well(leaves);
  EXPECT_TRUE(stays.process.running());
}

TEST(Drain, TakesTheNumberOfAWorkerAndEndsAlsoItsParent) {
  auto dispatcher = dispatcher_of_long_leases();
  started worker{{"worker", "--dispatcher", dispatcher.address}};
  await_workers(dispatcher.address, 1);
  const auto how = drain(dispatcher, "1").get();
  EXPECT_EQ(how.code, exit_code::ok) << how.text;
  EXPECT_EQ(worker.process.wait(patience).value(), process_end{});
  const auto again = drain(dispatcher, worker.address).get();
  EXPECT_EQ(again.code, exit_code::ok) << again.text;
}

TEST(Drain, ShowsInTheStatusAndGivesNoNewTasks) {
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address, {"--drain", "1h"});
  await_workers(dispatcher.address, 1);
  unanswering_files files; // the worker never comes to the end of the second file
  auto reads = files.read(dispatcher.address, sharding_policy::dynamic);
  const auto how = drain(dispatcher, leaves.address, {"--timeout", "1s"}).get();
  EXPECT_EQ(how.code, exit_code::failure);
  EXPECT_THAT(how.text, HasSubstr("worker 1 at " + leaves.address + " has not left within 1 s"));
  EXPECT_THAT(how.text, HasSubstr("1 task. It goes on leaving"));
  const auto shown = run_command({"status", "--dispatcher", dispatcher.address});
  EXPECT_THAT(shown.text, HasSubstr("draining"));
  auto stays = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1); // the draining worker takes no tasks and does not count
  size_t rows = 0;
  auto it = dataset::range(1'000).apply(dynamic(dispatcher)).iterate();
  while (auto some = it.next_block()) rows += some->rows;
  EXPECT_EQ(rows, 1'000u);
  const auto now = get_service_status(dispatcher.address, patience).value();
  size_t finished = 0;
  for (const auto& job : now.jobs)
    if (job.state == "finished") {
      ++finished;
      for (const auto& task : job.tasks) EXPECT_EQ(task.worker, 2u);
    }
  EXPECT_EQ(finished, 1u);
}

TEST(Drain, ShowsOnATerminalHowFarItIs) {
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  const auto all = written_to_a_terminal(
    {headrace_program(), "drain", leaves.address, "--dispatcher", dispatcher.address});
  EXPECT_THAT(all, HasSubstr("\r\x1b[Kworker 1 at " + leaves.address + " is leaving: 0 tasks"));
  EXPECT_THAT(all, testing::EndsWith("\r\x1b[Kworker 1 at " + leaves.address + " has left\r\n"));
}

TEST(Drain, SaysThatItsBoundWasOverBeforeAllWasGiven) {
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address, {"--drain", "100ms"});
  await_workers(dispatcher.address, 1);
  unanswering_files files; // the worker never comes to the end of the second file
  auto reads = files.read(dispatcher.address, sharding_policy::dynamic);
  const auto how = drain(dispatcher, leaves.address).get();
  EXPECT_EQ(how.code, exit_code::failure);
  EXPECT_THAT(how.text, HasSubstr("has left, and its --drain was over before 1 task had given"));
  EXPECT_TRUE(leaves.process.wait(patience));
}

TEST(Drain, NamesTheWorkersThatThereAreWhereItIsOfNone) {
  auto dispatcher = start_dispatcher({"--heartbeat", "50ms", "--lease", "100ms"});
  auto worker = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  const auto how = drain(dispatcher, "127.0.0.1:1").get();
  EXPECT_EQ(how.code, exit_code::failure);
  EXPECT_THAT(how.text, HasSubstr("this service has no worker at 127.0.0.1:1; there are: 1 at "
                                  + worker.address));
}

TEST(Drain, SaysThatThereIsNoDispatcher) {
  const auto how = run_command({"drain", "1", "--dispatcher", "127.0.0.1:1"});
  EXPECT_EQ(how.code, exit_code::cannot_connect);
  EXPECT_THAT(how.text, HasSubstr("127.0.0.1:1"));
}

TEST(Drain, RefusesWhatIsNoWorker) {
  const auto how = run_command({"drain", "gpu-host"});
  EXPECT_EQ(how.code, exit_code::usage);
  EXPECT_THAT(how.text, HasSubstr("neither the address of a worker (host:port) nor its number"));
}

TEST(Drain, OutlivesADispatcherThatKeepsItsStateInADirectory) {
  scratch_directory kept;
  std::vector<std::string> flags{"--heartbeat", "100ms", "--work-dir", kept.journal()};
  auto dispatcher = start_dispatcher(flags);
  auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
  await_workers(dispatcher.address, 1);
  leaves.process.kill(SIGSTOP); // the request to drain waits for SIGCONT
  auto first = drain(dispatcher, leaves.address, {"--timeout", "1s"}).get();
  EXPECT_THAT(first.text, HasSubstr("It goes on leaving"));
  dispatcher.process.kill(SIGKILL);
  ASSERT_TRUE(dispatcher.process.wait(patience));
  flags.insert(flags.end(), {"--port", std::to_string(dispatcher.port())});
  server_process next{"dispatcher", flags};
  leaves.process.kill(SIGCONT);
  expect_ended_well(leaves);
}

TEST(Drain, IsAskedAgainOfADispatcherThatWasStartedAgainAndForgotIt) {
  std::vector<std::string> flags{"--heartbeat", "100ms"};
  auto dispatcher = start_dispatcher(flags);
  auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
  await_workers(dispatcher.address, 1);
  leaves.process.kill(SIGSTOP);
  std::promise<void> begun;
  bool told = false;
  auto waits = std::async(std::launch::async, [&] {
    return drain_worker(dispatcher.address, leaves.address,
                        {.timeout = patience, .on_progress = [&](const draining_worker& x) {
                           if (!x.left && !std::exchange(told, true))
                             begun.set_value();
                         }});
  });
  begun.get_future().wait();
  dispatcher.process.kill(SIGKILL);
  ASSERT_TRUE(dispatcher.process.wait(patience));
  flags.insert(flags.end(), {"--port", std::to_string(dispatcher.port())});
  server_process next{"dispatcher", flags};
  leaves.process.kill(SIGCONT);
  const auto how = waits.get();
  EXPECT_TRUE(how) << to_string(how.status());
  expect_ended_well(leaves);
}

} // namespace
} // namespace headrace::detail::test
