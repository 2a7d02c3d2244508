#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace headrace::test {
namespace {

class Demo : public testing::TestWithParam<int> {};

TEST_P(Demo, LeavesNoProcessBehindWhenItIsInterrupted) {
  const std::string digits = std::string{HEADRACE_DATA_DIR "/digits"};
  for (const std::string at : {"dispatcher on ", "epoch 2/"}) {
    auto demo = child_process::start(
                  {.argv = {HEADRACE_DEMO, HEADRACE_COMMAND, digits}, .merge_stderr = true})
                  .value();
    ASSERT_TRUE(demo.read_until(at, patience));
    demo.kill(GetParam());
    ASSERT_TRUE(demo.wait(patience));
    // Its servers write their errors where it does: the end of that is the end of the last of them.
    result<std::string> line = std::string{};
    while (line) line = demo.read_line(patience);
    EXPECT_EQ(line.status().code(), status_code::out_of_range) << to_string(line.status());
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, Demo, testing::Values(SIGINT, SIGTERM, SIGKILL),
                         [](const auto& of) { return "Signal" + std::to_string(of.param); });

} // namespace
} // namespace headrace::test
