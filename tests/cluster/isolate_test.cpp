#include "tests/client/support/command.hpp"
#include "tests/cluster/processes.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scratch_directory.hpp"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

/// A process of `headrace up --isolate`, whose output and errors are one stream.
struct isolated {
  child_process process;
  std::string address;

  explicit isolated(std::vector<std::string> more) : process(start(std::move(more))) {
    const auto line = process.read_until("dispatcher listening on ", patience).value();
    address = line.substr(line.rfind(' ') + 1);
  }
  static child_process start(std::vector<std::string> more) {
    more.insert(more.begin(), {"up", "--isolate", "--heartbeat", "100ms", "--lease", "2s"});
    if (std::ranges::find(more, "--port") == more.end())
      more.insert(more.end(), {"--port", "0"});
    return headrace_command(more, true);
  }
  /// The workers that are alive, by address.
  std::map<std::string, worker_status> workers() const {
    std::map<std::string, worker_status> out;
    if (const auto now = get_service_status(address, patience))
      for (const auto& x : now->workers)
        if (x.alive)
          out.emplace(x.address, x);
    return out;
  }
  /// Waits until another process is the worker at the address of `who`. False if it came too late.
  bool comes_again(const worker_status& who) const {
    return shows(address, [&](const service_status& now) {
      return std::ranges::any_of(now.workers, [&](const auto& x) {
        return x.address == who.address && x.alive && x.pid != who.pid;
      });
    });
  }
};

/// A process that was not started by the test's process. The test can wait for its end.
class watched {
public:
  explicit watched(uint32_t pid)
    : fd_(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))),
      has_ended_(fd_ < 0 && errno == ESRCH) {}
  watched(watched&& x) noexcept : fd_(std::exchange(x.fd_, -1)), has_ended_(x.has_ended_) {}
  ~watched() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  bool ends() const {
    pollfd event{fd_, POLLIN, 0};
    if (fd_ < 0)
      return has_ended_;
    return ::poll(&event, 1, static_cast<int>(patience / std::chrono::milliseconds{1})) == 1;
  }

private:
  int fd_;
  bool has_ended_; ///< the process had ended before this object was made
};

distribute dynamic(const isolated& service, delivery_guarantee guarantee) {
  return distribute({.processing_mode = sharding_policy::dynamic,
                     .service = service.address,
                     .guarantee = guarantee});
}

TEST(Isolate, GivesEachWorkerAProcessAndEndsThemAllInOrder) {
  isolated up{{"--workers", "3"}};
  await_workers(up.address, 3);
  std::set<uint32_t> processes{static_cast<uint32_t>(up.process.pid())};
  std::vector<watched> watches;
  for (const auto& [address, x] : up.workers()) {
    processes.insert(x.pid);
    watches.emplace_back(x.pid);
  }
  EXPECT_EQ(processes.size(), 4u);
  up.process.kill(SIGTERM);
  EXPECT_EQ(up.process.wait(patience).value(), process_end{});
  for (const auto& x : watches) EXPECT_TRUE(x.ends());
}

TEST(Isolate, EndsTheChildrenOfOneThatIsKilled) {
  isolated up{{"--workers", "2"}};
  await_workers(up.address, 2);
  std::vector<watched> watches;
  for (const auto& [address, x] : up.workers()) watches.emplace_back(x.pid);
  ASSERT_EQ(watches.size(), 2u);
  up.process.kill(SIGKILL);
  for (const auto& x : watches) EXPECT_TRUE(x.ends());
}

TEST(Isolate, StartsAWorkerAgainThatIsKilledInTheMidstOfAnEpochWhichEnds) {
  constexpr int64_t total = 1'000'000;
  isolated up{{"--workers", "2"}};
  await_workers(up.address, 2);
  const auto dies = up.workers().begin()->second;
  std::vector<bool> seen(total);
  size_t rows = 0;
  bool killed = false;
  auto it = dataset::range(total).apply(dynamic(up, delivery_guarantee::at_least_once)).iterate();
  while (auto some = it.next_block()) {
    const auto& column = some->columns.at(0);
    for (auto x :
         column.values<int64_t>().subspan(static_cast<size_t>(column.first_value(0)), some->rows))
      seen.at(static_cast<size_t>(x)) = true;
    rows += some->rows;
    if (rows > total / 10 && !std::exchange(killed, true)) {
      ASSERT_EQ(::kill(static_cast<pid_t>(dies.pid), SIGKILL), 0);
    }
  }
  EXPECT_EQ(std::ranges::count(seen, true), total);
  EXPECT_TRUE(up.comes_again(dies));
  const auto again = up.workers().at(dies.address);
  EXPECT_EQ(again.worker, dies.worker) << "it is the same worker";
  EXPECT_TRUE(shows(up.address, [](const service_status& now) {
    return std::ranges::any_of(now.tree, [](const auto& x) {
      return x.restarts == 1 && x.last_reason == "signal 9 (Killed)";
    });
  }));
}

TEST(Isolate, EndsAllWithAMessageWhenItsBudgetIsSpent) {
  isolated up{{"--workers", "2"}};
  await_workers(up.address, 2);
  auto dies = up.workers().begin()->second;
  std::vector<watched> watches;
  for (const auto& [address, x] : up.workers()) watches.emplace_back(x.pid);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(::kill(static_cast<pid_t>(dies.pid), SIGKILL), 0);
    ASSERT_TRUE(up.comes_again(dies)) << i;
    dies = up.workers().at(dies.address);
  }
  ASSERT_EQ(::kill(static_cast<pid_t>(dies.pid), SIGKILL), 0);
  const auto said = up.process.read_until("all ends, as", patience);
  ASSERT_TRUE(said) << to_string(said.status());
  EXPECT_THAT(*said, testing::MatchesRegex(
                       "headrace up: all ends, as worker [12] ended: signal 9 \\(Killed\\)"));
  EXPECT_THAT(up.process.read_line(patience).value(),
              HasSubstr("failed after 5 restarts within 60 s"));
  EXPECT_EQ(up.process.read_line(patience).value(), "what it wrote last:");
  EXPECT_THAT(up.process.read_until("registered", patience).value(), HasSubstr("  "));
  EXPECT_EQ(up.process.wait(patience).value(), (process_end{137, 0}));
  for (const auto& x : watches) EXPECT_TRUE(x.ends());
}

TEST(Isolate, GoesOnWithTheDispatchersStateWhenThatIsKilled) {
  constexpr int64_t total = 1'000'000;
  scratch_directory kept;
  isolated up{{"--workers", "2", "--work-dir", kept.journal()}};
  await_workers(up.address, 2);
  const auto before = up.workers();
  const auto dispatcher = [&] {
    // The name has the form "dispatcher, process 123".
    const auto name = get_service_status(up.address, patience).value().tree.at(0).name;
    return std::stoi(name.substr(name.rfind(' ') + 1));
  }();
  once seen{total};
  bool killed = false;
  auto it = dataset::range(total).apply(dynamic(up, delivery_guarantee::at_most_once)).iterate();
  while (auto rows = it.next_block()) {
    seen.add(*rows);
    if (seen.count() > total / 10 && !std::exchange(killed, true)) {
      ASSERT_EQ(::kill(dispatcher, SIGKILL), 0);
    }
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  await_workers(up.address, 2);
  for (const auto& [address, x] : up.workers()) EXPECT_EQ(x.pid, before.at(address).pid);
}

TEST(Isolate, DoesNotStartAWorkerAgainThatIsDrained) {
  isolated up{{"--workers", "2"}};
  await_workers(up.address, 2);
  const auto all = up.workers();
  const auto& leaves = all.begin()->second;
  const watched process{leaves.pid};
  const auto how = run_command({"drain", leaves.address, "--dispatcher", up.address});
  EXPECT_EQ(how.code, exit_code::ok) << how.text;
  EXPECT_TRUE(process.ends());
  EXPECT_EQ(up.workers().size(), 1u);
  up.process.kill(SIGTERM);
  EXPECT_EQ(up.process.wait(patience).value(), process_end{});
}

TEST(Isolate, EndsAtOnceWhereItsPortIsInUse) {
  auto other = start_dispatcher();
  auto up = isolated::start({"--port", std::to_string(other.port())});
  const auto said = up.read_until("all ends, as dispatcher ended", patience);
  EXPECT_TRUE(said) << to_string(said.status());
  EXPECT_TRUE(up.read_until("port " + std::to_string(other.port()), patience));
  EXPECT_EQ(up.wait(patience).value().code, static_cast<int>(exit_code::cannot_listen));
}

TEST(Isolate, ThePortOfThePageIsTheDispatchersAlone) {
  const auto port = std::to_string(relay{}.port()); // free again after this statement
  auto up = isolated::start({"--workers", "2", "--http-port", port});
  EXPECT_TRUE(up.read_until("dispatcher listening on ", patience));
  EXPECT_TRUE(up.read_until("status page at http://127.0.0.1:" + port + "/", patience));
  up.kill(SIGTERM);
  EXPECT_EQ(up.wait(patience).value(), process_end{});
}

TEST(Isolate, EndsAtOnceWhereItsDispatchersListDoesNotHaveItsWorkers) {
  auto up = isolated::start({"--worker-addresses", "elsewhere"});
  EXPECT_TRUE(up.read_until("all ends, as worker 1 ended", patience));
  EXPECT_TRUE(up.read_until("headrace worker: the worker at 127.0.0.1:", patience));
  EXPECT_EQ(up.wait(patience).value().code, static_cast<int>(exit_code::failure));
}

TEST(Isolate, GoesNotTogetherWithNoRestart) {
  const auto how = run_command({"up", "--isolate", "--no-restart"});
  EXPECT_EQ(how.code, exit_code::usage);
}

TEST(Isolate, PassesOnWhatItWasGiven) {
  scratch_directory folder;
  const auto log = folder.path() + "/log";
  isolated up{{"--workers", "1", "--max-stuck-threads", "3", "--worker-addresses",
               "localhost,127.0.0.1", "--memory-limit", sanitized ? "0" : "2G", "--log-format",
               "json", "--log-file", log}};
  await_workers(up.address, 1);
  EXPECT_EQ(up.workers().size(), 1u) << "it has an entry of the list";
  up.process.kill(SIGTERM);
  ASSERT_TRUE(up.process.wait(patience));
  // All processes write their log lines into the same file.
  std::ifstream lines{log};
  std::set<std::string> said;
  for (std::string line; std::getline(lines, line);) {
    const auto one = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(one.is_object()) << line;
    said.insert(one.value("message", line));
  }
  EXPECT_TRUE(said.contains("a process listens")) << "the one that starts the others";
  EXPECT_TRUE(said.contains("worker joined")) << "the dispatcher";
  EXPECT_TRUE(said.contains("registered")) << "the worker";
}

} // namespace
} // namespace headrace::detail::test
