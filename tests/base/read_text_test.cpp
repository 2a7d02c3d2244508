#include "headrace/runtime/base/read_text.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace headrace::detail {
namespace {

TEST(ReadText, GivesAllBytesOfAFile) {
  const auto path = testing::TempDir() + "read_text." + std::to_string(::getpid());
  for (const auto& text :
       {std::string{}, std::string{"a\r\n\0b\n", 6}, std::string(100'000, 'x')}) {
    std::ofstream{path, std::ios::binary} << text;
    EXPECT_EQ(read_text(path), text);
  }
  std::filesystem::remove(path);
}

TEST(ReadText, IsEmptyForWhatCannotBeRead) {
  EXPECT_EQ(read_text(testing::TempDir()), "") << "a directory";
  EXPECT_EQ(read_text(testing::TempDir() + "no_such_file." + std::to_string(::getpid())), "");
}

} // namespace
} // namespace headrace::detail
