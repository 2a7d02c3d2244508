#include "headrace/client/command/run/passed_signals.hpp"

#include <csignal>
#include <gmock/gmock.h>

namespace headrace::detail::command {
namespace {

using namespace std::chrono_literals;
using signal_place = passed_signals::place;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr time_point begin{};

TEST(PassedSignals, OneToOurProcessAloneIsPassedOnOnce) {
  passed_signals it;
  it.received(SIGTERM, signal_place::ours, begin);
  EXPECT_THAT(it.due(begin), IsEmpty());
  EXPECT_THAT(it.due(begin + 250ms), ElementsAre(SIGTERM));
  EXPECT_THAT(it.due(begin + 10s), IsEmpty());
  ASSERT_TRUE(it.first_stop());
  EXPECT_EQ(it.first_stop()->signal, SIGTERM);
  EXPECT_EQ(it.first_stop()->at, begin);
}

TEST(PassedSignals, OneToTheWholeGroupIsOneAndTheCommandHasItAlready) {
  passed_signals it;
  // A signal to the group arrives twice at processes of the run, and once at the `signal_witness`,
  // a process that was started beside the command: there it arrives first, last or second.
  for (int first = 0; first < 3; ++first) {
    const auto at = begin + std::chrono::minutes{first};
    for (int i = 0; i < 3; ++i)
      it.received(SIGUSR1, (first + i) % 3 == 0 ? signal_place::beside_it : signal_place::ours,
                  at + std::chrono::milliseconds{i});
    EXPECT_THAT(it.due(at + 30s), IsEmpty());
  }
}

TEST(PassedSignals, OneThatArrivesInSeveralWaysIsNoSecondOne) {
  passed_signals it;
  it.received(SIGTERM, signal_place::ours, begin);
  it.received(SIGTERM, signal_place::beside_it, begin + 1ms);
  it.received(SIGTERM, signal_place::ours, begin + 2ms);
  it.received(SIGTERM, signal_place::ours, begin + 900ms);
  // A SIGHUP directly after the SIGTERM, as service managers send it, is passed on, but does not
  // count as a second request to stop.
  it.received(SIGHUP, signal_place::ours, begin + 5ms);
  EXPECT_FALSE(it.stopped_again());
  EXPECT_THAT(it.due(begin + 1s), ElementsAre(SIGHUP));
}

TEST(PassedSignals, ASecondOneASecondLaterIs) {
  passed_signals it;
  it.received(SIGINT, signal_place::beside_it, begin);
  it.received(SIGINT, signal_place::beside_it, begin + 999ms);
  EXPECT_FALSE(it.stopped_again());
  it.received(SIGINT, signal_place::beside_it, begin + 1s);
  EXPECT_TRUE(it.stopped_again());
  EXPECT_EQ(it.first_stop()->at, begin);
}

TEST(PassedSignals, OthersDoNotAskToStop) {
  passed_signals it;
  for (int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGRTMIN})
    for (auto at : {begin, begin + 5s}) it.received(signal, signal_place::ours, at);
  EXPECT_FALSE(it.first_stop());
  EXPECT_FALSE(it.stopped_again());
  EXPECT_EQ(it.due(begin + 6s).size(), 12U);
}

TEST(PassedSignals, NeitherDoesOneThatWasIgnoredFromTheStart) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  EXPECT_FALSE(asks_to_stop(SIGHUP));
  std::signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(asks_to_stop(SIGHUP));
  std::signal(SIGHUP, before);
}

} // namespace
} // namespace headrace::detail::command
