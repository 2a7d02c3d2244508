#include "tests/cluster/processes.hpp"
#include "tests/support/paths.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace headrace::test {
namespace {

class Demo : public testing::TestWithParam<int> {};

TEST_P(Demo, LeavesNoProcessBehindWhenItIsInterrupted) {
  const auto digits = test::data_path("digits");
  for (const std::string at : {"dispatcher on ", "epoch 2/"}) {
    auto demo =
      child_process::start(
        {.argv = {test::digits_program(), test::headrace_program(), digits}, .merge_stderr = true})
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
