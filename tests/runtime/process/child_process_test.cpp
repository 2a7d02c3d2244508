#include "headrace/runtime/process/child_process.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::detail;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

child_process shell(const std::string& script) {
  return child_process::start({.argv = {"sh", "-c", script}}).value();
}

TEST(ChildProcessTest, GivesLinesAndTheExitCode) {
  auto child = shell("echo one; printf 'two\\nthree'; exit 3");
  EXPECT_EQ(child.read_line(10s).value(), "one");
  EXPECT_EQ(child.read_line(10s).value(), "two");
  EXPECT_EQ(child.read_line(10s).value(), "three");
  EXPECT_EQ(child.read_line(10s).status().code(), status_code::out_of_range);
  EXPECT_EQ(child.wait(10s).value(), (process_end{3, 0}));
  EXPECT_FALSE(child.running());
}
TEST(ChildProcessTest, TellsTheSignalThatEndedIt) {
  auto child = shell("echo up; read x < /dev/full; exec sleep 1000");
  ASSERT_TRUE(child.read_until("up", 10s));
  child.kill(SIGKILL);
  auto end = child.wait(10s).value();
  EXPECT_EQ(end, (process_end{0, SIGKILL}));
  EXPECT_EQ(end.as_exit_code(), 137);
  EXPECT_EQ(to_string(end), "signal 9 (Killed)");
}
TEST(ChildProcessTest, EndsWithoutACodeWhereThisProcessIgnoresTheEndOfChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  auto child = shell("exit 3");
  EXPECT_EQ(child.wait(10s).value(), (process_end{unknown_exit_code, 0}));
  EXPECT_FALSE(child.running());
  std::signal(SIGCHLD, before);
}
TEST(ChildProcessTest, NamesAProgramThatIsNotThere) {
  auto child = child_process::start({.argv = {"/no/such/program"}});
  ASSERT_FALSE(child);
  EXPECT_THAT(child.status().message(), HasSubstr("/no/such/program"));
  EXPECT_EQ(child_process::start({}).status().code(), status_code::invalid_argument);
}
TEST(ChildProcessTest, IsKilledWithItsObject) {
  pid_t pid = 0;
  {
    auto child = shell("echo up; exec sleep 1000");
    ASSERT_TRUE(child.read_until("up", 10s));
    pid = child.pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}
TEST(ChildProcessTest, SaysWhenItStillRuns) {
  auto child = shell("exec sleep 1000");
  EXPECT_EQ(child.wait(duration::zero()).status().code(), status_code::deadline_exceeded);
  EXPECT_EQ(child.read_line(duration::zero()).status().code(), status_code::deadline_exceeded);
  EXPECT_TRUE(child.running());
}
TEST(ChildProcessTest, QuotesWhatCameInPlaceOfTheExpectedLine) {
  auto child = shell("echo cannot start");
  EXPECT_THAT(child.read_until("ready", 10s).status().message(), HasSubstr("cannot start"));
}
TEST(ChildProcessTest, PassesTheEnvironmentOn) {
  auto child = child_process::start(
                 {.argv = {"sh", "-c", "echo $HEADRACE_X"}, .environment = {"HEADRACE_X=42"}})
                 .value();
  EXPECT_EQ(child.read_line(10s).value(), "42");
}
TEST(ChildProcessTest, IgnoresTheSignalsThatItIsToIgnore) {
  auto child =
    child_process::start(
      {.argv = {"sh", "-c", "echo up; kill -USR1 $$; echo still; kill -USR2 $$; echo not"},
       .ignored_signals = {SIGUSR1}})
      .value();
  EXPECT_EQ(child.read_line(10s).value(), "up");
  EXPECT_EQ(child.read_line(10s).value(), "still");
  EXPECT_EQ(child.wait(10s).value(), (process_end{0, SIGUSR2}));
}
TEST(ChildProcessTest, ReplacesVariablesThatAreSetAlready) {
  ::setenv("HEADRACE_X", "old", 1);
  ::setenv("HEADRACE_X2", "other", 1);
  auto child =
    child_process::start({.argv = {"env"}, .environment = {"HEADRACE_X=42", "HEADRACE_Y="}})
      .value();
  std::vector<std::string> ours;
  while (auto line = child.read_line(10s))
    if (line->starts_with("HEADRACE_X") || line->starts_with("HEADRACE_Y"))
      ours.push_back(*line);
  ::unsetenv("HEADRACE_X");
  ::unsetenv("HEADRACE_X2");
  EXPECT_THAT(ours,
              testing::UnorderedElementsAre("HEADRACE_X=42", "HEADRACE_Y=", "HEADRACE_X2=other"));
}

} // namespace
