#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/child_process.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/stranger.hpp"

#include <caf/io/middleman.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(OtherVersion, AWorkerOfSuchADispatcherEndsWithACodeOfItsOwnAndSaysWhatToDo) {
  node server{{.role = node_role::dispatcher}};
  auto stranger = port::spawn<stranger_state>(system_of(server));
  adopt(server, caf::actor_cast<caf::actor>(stranger));
  const auto port = system_of(server).middleman().publish(stranger, 0, "127.0.0.1", true);
  ASSERT_TRUE(port);
  const auto where = "127.0.0.1:" + std::to_string(*port);
  for (const bool under_parent : {true, false}) {
    SCOPED_TRACE(under_parent);
    std::vector<std::string> command{headrace_program(), "worker", "--dispatcher", where,
                                     "--log-level",      "off"};
    if (!under_parent)
      command.push_back("--no-restart");
    auto worker = child_process::start({.argv = command, .merge_stderr = true}).value();
    std::string said;
    while (auto line = worker.read_line(patience)) said += *line + "\n";
    const auto end = worker.wait(patience);
    ASSERT_TRUE(end) << to_string(end.status());
    EXPECT_EQ(static_cast<exit_code>(end->as_exit_code()), exit_code::version_mismatch);
    EXPECT_THAT(said, AllOf(HasSubstr(where), HasSubstr("9.3"), HasSubstr("2.0"),
                            HasSubstr("update the older one")));
  }
}

} // namespace
} // namespace headrace::detail::test
