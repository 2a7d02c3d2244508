#include "headrace/runtime/process/process_parent.hpp"

#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/memory_limit.hpp"
#include "tests/runtime/process/child_body.hpp"
#include "tests/support/sanitized.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

constexpr auto patience = 30s;

/// Allocates memory until the memory limit ends the process.
[[noreturn]] void eat_memory() {
  std::vector<std::unique_ptr<char[]>> hoard;
  for (;;) hoard.push_back(std::make_unique<char[]>(1 << 20));
}

int as_int(exit_code x) { return static_cast<int>(x); }

const child_body over_limit{"over_limit", [](auto&) {
                              set_memory_limit(private_memory_bytes() + (64 << 20)).ok();
                              eat_memory();
                              return 0;
                            }};

const child_body restarted{
  "restarted", [](auto&) {
    return run_under_parent({.first_pause = 1ms}, [](process_lives& lives) {
      const auto n = lives.past().restarts;
      say("past: " + lives.past().last_reason);
      say("life " + std::to_string(n) + " port " + std::to_string(lives.port(0, 0)));
      lives.keep_port(0, 4711);
      if (n == 0) {
        if (auto set = set_memory_limit(private_memory_bytes() + (64 << 20)); !set)
          say(to_string(set));
        eat_memory();
      }
      if (n == 1)
        ::raise(SIGKILL);
      return 9;
    });
  }};

const child_body always_stuck{
  "always_stuck", [](auto&) {
    return run_under_parent({.max_restarts = 2, .first_pause = 1ms}, [](process_lives& lives) {
      say("life " + std::to_string(lives.past().restarts));
      return as_int(exit_code::stuck_thread);
    });
  }};

const child_body pausing{
  "pausing", [](auto&) {
    return run_under_parent(
      {.first_pause = 1h, .longest_pause = 1h, .on_restart = [](auto&&...) { say("pausing"); }},
      [](process_lives&) { return as_int(exit_code::stuck_thread); });
  }};

const child_body forwards{"forwards", [](auto& args) {
                            return run_under_parent({.stop_budget = 100ms}, [&](process_lives&) {
                              if (args.at(0) == "stubborn")
                                ::signal(SIGTERM, SIG_IGN);
                              say("ready " + std::to_string(::getpid()));
                              wait_for_ever();
                              return 0;
                            });
                          }};

TEST(MemoryLimitTest, EndsTheProcessWithItsOwnCode) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer's own memory would count";
  auto child = over_limit.start();
  EXPECT_TRUE(child.read_until("memory limit of", patience));
  EXPECT_EQ(child.wait(patience).value(), (process_end{as_int(exit_code::memory_limit), 0}));
}
TEST(MemoryLimitTest, RefusesALimitBelowWhatIsInUse) {
  auto refused = set_memory_limit(1);
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_THAT(refused.message(), HasSubstr("in use already"));
}

TEST(ProcessParentTest, RestartsAfterTheMemoryLimitAndAfterAKillAndKeepsThePort) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer's own memory would count";
  auto child = restarted.start();
  EXPECT_TRUE(child.read_until("life 0 port 0", patience));
  EXPECT_TRUE(child.read_until("exit code 75", patience));
  EXPECT_TRUE(child.read_until("past: exit code 75", patience));
  EXPECT_TRUE(child.read_until("life 1 port 4711", patience));
  EXPECT_TRUE(child.read_until("signal 9", patience));
  EXPECT_TRUE(child.read_until("past: signal 9", patience));
  EXPECT_TRUE(child.read_until("life 2 port 4711", patience));
  EXPECT_EQ(child.wait(patience).value(), (process_end{9, 0}));
}
TEST(ProcessParentTest, GivesUpWhenRestartsAreTooMany) {
  auto child = always_stuck.start();
  for (auto life : {"life 0", "life 1", "life 2"}) EXPECT_TRUE(child.read_until(life, patience));
  EXPECT_EQ(child.wait(patience).value(), (process_end{as_int(exit_code::stuck_thread), 0}));
  EXPECT_FALSE(child.read_until("life 3", patience));
}
TEST(ProcessParentTest, StopsInOrderWhileItWaitsToStartAgain) {
  auto child = pausing.start();
  ASSERT_TRUE(child.read_until("pausing", patience));
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(patience).value(), (process_end{as_int(exit_code::ok), 0}));
}
TEST(ProcessParentTest, PassesSigtermOn) {
  auto child = forwards.start({"polite"});
  ASSERT_TRUE(child.read_until("ready", patience));
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(patience).value(), (process_end{128 + SIGTERM, 0}));
}
TEST(ProcessParentTest, KillsAChildThatIgnoresSigterm) {
  auto child = forwards.start({"stubborn"});
  ASSERT_TRUE(child.read_until("ready", patience));
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(patience).value(), (process_end{128 + SIGKILL, 0}));
}
TEST(ProcessParentTest, TakesItsChildWithItWhenItIsKilled) {
  auto child = forwards.start({"polite"});
  ASSERT_TRUE(child.read_until("ready", patience));
  child.kill(SIGKILL);
  ASSERT_TRUE(child.wait(patience));
  // The grandchild holds the other end of the pipe, so the end of the pipe shows that it has ended.
  EXPECT_EQ(child.read_line(patience).status().code(), status_code::out_of_range);
}
TEST(ProcessParentTest, RestartsOnlyWhatCrashed) {
  EXPECT_TRUE(is_restarted({75, 0}));
  EXPECT_TRUE(is_restarted({76, 0}));
  EXPECT_TRUE(is_restarted({0, SIGSEGV}));
  EXPECT_TRUE(is_restarted({0, SIGKILL}));
  EXPECT_FALSE(is_restarted({0, 0}));
  EXPECT_FALSE(is_restarted({3, 0}));
  EXPECT_FALSE(is_restarted({0, SIGTERM}));
}

} // namespace
