#include "headrace/runtime/process/exit_code.hpp"

#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::detail;

namespace {

TEST(ExitCodeTest, FollowsTheReason) {
  EXPECT_EQ(exit_code_of({}), exit_code::ok);
  EXPECT_EQ(exit_code_of(cancelled("asked to")), exit_code::ok);
  EXPECT_EQ(exit_code_of(invalid_argument("--workers")), exit_code::usage);
  EXPECT_EQ(exit_code_of(already_exists("port 1 is in use")), exit_code::cannot_listen);
  EXPECT_EQ(exit_code_of(unavailable("nobody listens")), exit_code::cannot_connect);
  EXPECT_EQ(exit_code_of(deadline_exceeded("silent")), exit_code::cannot_connect);
  EXPECT_EQ(exit_code_of(internal_error("defect")), exit_code::internal);
  EXPECT_EQ(exit_code_of(data_loss("torn")), exit_code::failure);
}
TEST(ExitCodeTest, TellsAnotherVersionFromAnAddressWhereNobodyListens) {
  EXPECT_EQ(exit_code_of_connect(failed_precondition("speaks 9.3")), exit_code::version_mismatch);
  EXPECT_EQ(exit_code_of_connect(unavailable("nobody listens")), exit_code::cannot_connect);
}
TEST(ExitCodeTest, IsDescribed) {
  EXPECT_FALSE(describe(exit_code::memory_limit).empty());
  EXPECT_TRUE(describe(static_cast<exit_code>(42)).empty());
}

} // namespace
