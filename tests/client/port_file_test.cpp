#include "headrace/client/command/port_file.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::command {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct PortFile : testing::Test {
  PortFile() { fs::create_directory(folder); }
  ~PortFile() override { fs::remove_all(folder); }
  static std::string text(const fs::path& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  const fs::path folder = testing::TempDir() + "headrace_port_file_" + std::to_string(::getpid());
  const fs::path file = folder / "port";
};

TEST_F(PortFile, HoldsThePort) {
  ASSERT_TRUE(write_port_file(file, 5050));
  EXPECT_EQ(text(file), "5050\n");
  ASSERT_TRUE(write_port_file(file, 7));
  EXPECT_EQ(text(file), "7\n") << "it replaces what was there";
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 1) << "nothing is left beside it";
}

TEST_F(PortFile, IsNotWrittenThroughLinks) {
  const auto victim = folder / "victim";
  std::ofstream{victim} << "precious";
  fs::create_symlink(victim, folder / "port.new");
  fs::create_symlink(victim, file);
  ASSERT_TRUE(write_port_file(file, 5050));
  EXPECT_EQ(text(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(text(file), "5050\n");
}

TEST_F(PortFile, ThatCannotBeWrittenIsNamed) {
  const auto how = write_port_file(folder / "nowhere" / "port", 1);
  ASSERT_FALSE(how);
  EXPECT_THAT(how.message(), HasSubstr("nowhere/port: No such file"));
  fs::create_directory(file);
  EXPECT_FALSE(write_port_file(file, 1));
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 1);
}

} // namespace
} // namespace headrace::command
