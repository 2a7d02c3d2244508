#include "headrace/runtime/base/boot_id.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

TEST(BootIdTest, IsTheSameWheneverAsked) {
  EXPECT_FALSE(boot_id().empty());
  EXPECT_EQ(boot_id(), boot_id());
}

} // namespace
} // namespace headrace::detail
