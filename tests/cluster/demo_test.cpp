#include "tests/cluster/processes.hpp"
#include "tests/cluster/terminal.hpp"
#include "tests/support/paths.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

class InterruptedDemo : public testing::TestWithParam<int> {};

TEST_P(InterruptedDemo, LeavesNoProcessBehind) {
  const auto digits = test::data_path("digits");
  for (const std::string at : {"dispatcher on ", "epoch 2/"}) {
    auto demo =
      child_process::start(
        {.argv = {test::digits_program(), test::headrace_program(), digits}, .merge_stderr = true})
        .value();
    ASSERT_TRUE(demo.read_until(at, patience));
    demo.kill(GetParam());
    ASSERT_TRUE(demo.wait(patience));
    // The demo's servers have inherited its standard error, so that stream ends when the last
    // server has ended.
    result<std::string> line = std::string{};
    while (line) line = demo.read_line(patience);
    EXPECT_EQ(line.status().code(), status_code::out_of_range) << to_string(line.status());
  }
}

std::vector<std::string> two_epochs() {
  return {test::digits_program(), test::headrace_program(), test::data_path("digits"), "2"};
}

TEST(Demo, WritesOneLineOverOnATerminal) {
  const auto all = written_to_a_terminal(two_epochs());
  const auto first = all.find("\repoch  1/2 [");
  const auto last = all.rfind("\repoch  2/2 [");
  ASSERT_NE(first, std::string::npos) << all;
  ASSERT_NE(last, std::string::npos) << all;
  EXPECT_EQ(all.substr(first, last - first).find('\n'), std::string::npos) << all;
  // Each epoch is shown several times while it runs, and once with its result.
  size_t shown = 0;
  for (auto at = first; at != std::string::npos; at = all.find("\repoch ", at + 1)) ++shown;
  EXPECT_GT(shown, 4u);
  EXPECT_NE(all.find(", loss ", last), std::string::npos) << all;
  EXPECT_NE(all.find("accuracy: 0.", last), std::string::npos) << all;
}

TEST(Demo, WritesPlainLinesWhereNoTerminalIs) {
  auto demo = child_process::start({.argv = two_epochs()}).value();
  for (const std::string begin : {"epoch 1/2: ", "epoch 2/2: "}) {
    auto line = demo.read_until("epoch", patience);
    ASSERT_TRUE(line) << to_string(line.status());
    EXPECT_TRUE(line->starts_with(begin)) << *line;
    EXPECT_NE(line->find("records, loss "), std::string::npos) << *line;
    EXPECT_EQ(line->find('\r'), std::string::npos) << *line;
  }
  EXPECT_TRUE(demo.read_until("accuracy: 0.", patience));
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedDemo, testing::Values(SIGINT, SIGTERM, SIGKILL),
                         [](const auto& of) { return "Signal" + std::to_string(of.param); });

} // namespace
} // namespace headrace::detail::test
