#include "headrace/runtime/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headrace::detail {
namespace {

TEST(Utf8, LengthsAreThoseOfValidSequences) {
  const std::string text = "a\u00e9\u4e2d\U0001F600";
  EXPECT_EQ(utf8_length(text, 0), 1u);
  EXPECT_EQ(utf8_length(text, 1), 2u);
  EXPECT_EQ(utf8_length(text, 3), 3u);
  EXPECT_EQ(utf8_length(text, 6), 4u);
  EXPECT_EQ(utf8_length(text, 2), 0u) << "the second byte of a sequence";
  for (const std::string wrong : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                  "\xFF", "\xE4\xB8", "\xC3!"})
    EXPECT_EQ(utf8_length(wrong, 0), 0u);
}

TEST(Utf8, PrefixesEndBetweenSequences) {
  const std::string text = "a\u4e2d\U0001F600b";
  const size_t lengths[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 9, 9};
  for (size_t most = 0; most < std::size(lengths); ++most)
    EXPECT_EQ(utf8_prefix(text, most), text.substr(0, lengths[most])) << most;
}

TEST(Utf8, PrefixesOfOtherBytesAreCutAtTheLimit) {
  const std::string bytes(10, '\x80');
  EXPECT_EQ(utf8_prefix(bytes, 7).size(), 7u);
  EXPECT_EQ(utf8_prefix("ab\xFFz", 3).size(), 3u);
  EXPECT_EQ(utf8_prefix("ab\xE4z", 3).size(), 3u);
}

} // namespace
} // namespace headrace::detail
