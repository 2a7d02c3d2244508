#include "headrace/runtime/base/crc32c.hpp"

#include <gtest/gtest.h>
#include <span>
#include <string_view>

using namespace headrace;
using namespace headrace::detail;

namespace {

uint32_t crc_of(std::string_view text, uint32_t before = 0) {
  const auto bytes = std::as_bytes(std::span{text});
  return crc32c(bytes.data(), bytes.size(), before);
}

TEST(Crc32c, GivesThePublishedCheckValue) {
  EXPECT_EQ(crc_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc_of(""), 0u);
}
TEST(Crc32c, GoesOnWithFurtherBytes) { EXPECT_EQ(crc_of("6789", crc_of("12345")), 0xe3069283u); }

} // namespace
