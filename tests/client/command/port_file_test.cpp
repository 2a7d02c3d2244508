#include "headrace/client/command/servers/port_file.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail::command {
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
  std::optional<port_file> kept{std::in_place};
};

TEST_F(PortFile, HoldsThePort) {
  ASSERT_TRUE(kept->write(file, 5050));
  EXPECT_EQ(text(file), "5050\n");
  ASSERT_TRUE(kept->write(file, 7));
  EXPECT_EQ(text(file), "7\n") << "it replaces what was there";
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 1) << "nothing is left beside it";
}

TEST_F(PortFile, GoesWithItsServerUnlessItIsAnothersByThen) {
  ASSERT_TRUE(kept->write(file, 5050));
  kept.reset();
  EXPECT_FALSE(fs::exists(file));
  kept.emplace();
  ASSERT_TRUE(kept->write(file, 5050));
  std::ofstream{file} << "6060\n";
  kept.reset();
  EXPECT_EQ(text(file), "6060\n");
  kept.emplace();
  EXPECT_TRUE(kept->write("", 1)) << "none is wanted";
}

TEST_F(PortFile, IsNotWrittenThroughLinks) {
  const auto victim = folder / "victim";
  std::ofstream{victim} << "precious";
  fs::create_symlink(victim, folder / "port.new");
  fs::create_symlink(victim, file);
  ASSERT_TRUE(kept->write(file, 5050));
  EXPECT_EQ(text(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(text(file), "5050\n");
}

TEST_F(PortFile, ThatCannotBeWrittenIsNamed) {
  const auto how = kept->write(folder / "nowhere" / "port", 1);
  ASSERT_FALSE(how);
  EXPECT_THAT(how.message(), HasSubstr("nowhere/port: No such file"));
  fs::create_directory(file);
  EXPECT_FALSE(kept->write(file, 1));
  EXPECT_EQ(std::distance(fs::directory_iterator{folder}, {}), 1);
}

} // namespace
} // namespace headrace::detail::command
