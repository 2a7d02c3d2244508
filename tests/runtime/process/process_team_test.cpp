#include "headrace/runtime/process/process_team.hpp"

#include "tests/runtime/process/child_body.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr auto patience = 30s;

/// A member that runs a shell script. $1 of the script is the number of the member's restarts, and
/// $2 the reason for the last one.
team_member shell(std::string id, std::string script,
                  restart_policy restart = restart_policy::transient) {
  return {.id = std::move(id), .restart = restart, .program = [script](const process_past& past) {
            return child_options{.argv = {"/bin/sh", "-c", script, "sh",
                                          std::to_string(past.restarts), past.last_reason}};
          }};
}

/// Runs a team with these scripts, and prints the output of the members and the end of the team.
const child_body team_of_two{
  "team_of_two", [](const std::vector<std::string>& scripts) {
    process_team team{{.path = "test", .max_restarts = 2, .first_pause = 1ms, .last_lines = 2}};
    for (size_t i = 0; i < scripts.size(); ++i) {
      auto one = shell("member " + std::to_string(i), scripts[i]);
      one.on_line = [i](const std::string& line) { say(std::to_string(i) + ": " + line); };
      one.is_final = [](const process_end& how) { return how.code == 42; };
      if (!team.add(std::move(one)).ok())
        return 1;
    }
    const auto end = team.run();
    say("over: " + end.member + " " + to_string(end.why));
    for (const auto& line : end.lines) say("last: " + line);
    return 0;
  }};

constexpr const char* lives_on =
  "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 1; done";

TEST(ProcessTeam, StartsAMemberAgainThatWasKilledAndTellsItOfItsPast) {
  auto team = team_of_two.start({"echo past $1 $2; [ $1 = 1 ] && exit 0; kill -9 $$"});
  EXPECT_TRUE(team.read_until("0: past 0", patience));
  EXPECT_TRUE(team.read_until("0: past 1 signal 9 (Killed)", patience));
  team.kill(SIGTERM);
  EXPECT_TRUE(team.read_until("over:  ok", patience)) << "one that ended in order stays so";
}

TEST(ProcessTeam, EndsAllWhenTheBudgetIsSpentAndSaysWhoseLinesWereTheLast) {
  auto team = team_of_two.start({lives_on, "echo a; echo b$1; echo c$1; exit 7"});
  const auto over = team.read_until("over:", patience);
  ASSERT_TRUE(over) << to_string(over.status());
  EXPECT_THAT(*over, HasSubstr("over: member 1 aborted: supervisor 'test' gave up: child 'member "
                               "1' failed after 2 restarts within 60 s"));
  EXPECT_THAT(*over, HasSubstr("exit code 7"));
  EXPECT_EQ(team.read_line(patience).value(), "last: b2");
  EXPECT_EQ(team.read_line(patience).value(), "last: c2");
  EXPECT_EQ(team.wait(patience).value(), process_end{});
}

TEST(ProcessTeam, EndsAtOnceWhereAnotherStartWouldNotHelp) {
  auto team = team_of_two.start({lives_on, "echo wrong; exit 42"});
  const auto over = team.read_until("over:", patience);
  ASSERT_TRUE(over) << to_string(over.status());
  EXPECT_THAT(*over, HasSubstr("member 1 aborted: member 1: exit code 42"));
  EXPECT_EQ(team.read_line(patience).value(), "last: wrong");
}

TEST(ProcessTeam, AsksTheFirstMemberToEndWhenTheOthersHave) {
  auto team = team_of_two.start(
    {"trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done",
     "trap 'echo asked; echo ends; exit 0' TERM; echo up; while :; do sleep 0.01; done"});
  std::vector<std::string> said;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(team.read_until(": up", patience));
  team.kill(SIGINT);
  for (auto line = team.read_line(patience); line; line = team.read_line(patience))
    said.push_back(*line);
  EXPECT_THAT(said, ElementsAre("1: asked", "1: ends", "0: asked", "over:  ok"));
}

TEST(ProcessTeam, EndsWithItsProcessHoweverThatEnds) {
  auto team = team_of_two.start({"echo $$; exec sleep 1000"});
  const auto line = team.read_until("0: ", patience).value();
  const auto pid = std::stoi(line.substr(3));
  const auto watch = ::syscall(SYS_pidfd_open, pid, 0);
  ASSERT_GE(watch, 0);
  team.kill(SIGKILL);
  pollfd event{static_cast<int>(watch), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 30'000), 1) << "it lives on";
  ::close(static_cast<int>(watch));
}

const child_body team_of_none{
  "team_of_none", [](auto&) {
    process_team team{{.path = "test", .max_restarts = 1, .first_pause = 1ms}};
    const auto how = team.add({.id = "none", .program = [](const process_past&) {
                                 return child_options{.argv = {"/no/such/program"}};
                               }});
    if (!how.ok())
      return 1;
    say(to_string(team.run().why));
    return 0;
  }};

TEST(ProcessTeam, TellsOfAProgramThatCannotBeStarted) {
  auto team = team_of_none.start();
  EXPECT_THAT(team.read_until("gave up", patience).value(),
              HasSubstr("cannot start /no/such/program"));
}

} // namespace
