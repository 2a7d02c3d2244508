#include "headrace/runtime/process/stop_signal.hpp"

#include "headrace/runtime/process/exit_code.hpp"
#include "tests/runtime/process/child_body.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s;

const child_body stops{"stops", [](auto& args) {
                         stop_signal stop{{.budget = args.at(0) == "hangs" ? 50ms : 20s}};
                         // The signal must reach both this thread and the other one.
                         std::thread other{[&] { stop.wait(); }};
                         say("ready");
                         auto signal = stop.wait();
                         other.join();
                         say("signal " + std::to_string(signal));
                         if (args.at(0) == "hangs")
                           wait_for_ever();
                         return 0;
                       }};

TEST(StopSignalTest, MakesSigtermAnEvent) {
  auto child = stops.start({"stops"});
  ASSERT_TRUE(child.read_until("ready", patience));
  child.kill(SIGTERM);
  EXPECT_TRUE(child.read_until("signal 15", patience));
  EXPECT_EQ(child.wait(patience).value(), (process_end{0, 0}));
}
TEST(StopSignalTest, EndsAProcessThatDoesNotStopInItsBudget) {
  auto child = stops.start({"hangs"});
  ASSERT_TRUE(child.read_until("ready", patience));
  child.kill(SIGINT);
  EXPECT_EQ(child.wait(patience).value(),
            (process_end{static_cast<int>(exit_code::stop_overrun), 0}));
}
TEST(StopSignalTest, CanBeRequested) {
  stop_signal stop{{.budget = 1h}};
  EXPECT_FALSE(stop.stopped());
  EXPECT_FALSE(stop.wait(duration::zero()));
  stop.request();
  EXPECT_EQ(stop.wait(), 0);
  EXPECT_TRUE(stop.stopped());
}
TEST(StopSignalTest, GivesTheSignalMaskBack) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  { stop_signal stop; }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

} // namespace
