#include "headrace/runtime/base/status_code.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

TEST(StatusCode, OfAPeerIsTheOneOfThatNumber) {
  EXPECT_EQ(status_code_of(1), status_code::cancelled);
  EXPECT_EQ(status_code_of(16), status_code::unauthenticated);
}

TEST(StatusCode, OfAPeerIsUnknownWhereThisBuildDoesNotKnowTheNumber) {
  for (const int wire : {17, 255, 999, 65535})
    EXPECT_EQ(status_code_of(static_cast<uint16_t>(wire)), status_code::unknown) << wire;
}

TEST(StatusCode, OfAFailureIsNeverOk) {
  EXPECT_EQ(status_code_of(0), status_code::unknown);
  EXPECT_EQ(status_code_of(256), status_code::unknown) << "zero in its low byte";
}

} // namespace
} // namespace headrace::detail::test
