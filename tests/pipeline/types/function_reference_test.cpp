#include "headrace/pipeline/types/function_reference.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

TEST(FunctionReference, IsShownByItsNameAndItsLabel) {
  EXPECT_EQ(to_string({"tile.decode"}), "tile.decode");
  EXPECT_EQ(to_string({"python", "<lambda>", "a pickle"}), "python:<lambda>");
}

TEST(FunctionReference, IsShortenedBetweenCharacters) {
  const std::string umlauts = [] {
    std::string out;
    for (int i = 0; i < 150; ++i) out += "\xc3\xbc";
    return out;
  }();
  EXPECT_EQ(to_string({umlauts}).size(), 200u);
  EXPECT_EQ(to_string({"x" + umlauts}).size(), 199u);
}

} // namespace
} // namespace headrace::detail
