#include "headrace/runtime/process/memory_size.hpp"

#include "tests/support/scratch_directory.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

/// A folder with files like those of Linux control groups.
class MemorySize : public testing::Test {
protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = std::filesystem::path{root.path()} / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  test::scratch_directory root;
};

TEST_F(MemorySize, IsNoMoreThanTheMachineHas) {
  EXPECT_GT(memory_size_bytes(), uint64_t{1} << 20);
  EXPECT_LT(memory_size_bytes(), UINT64_MAX);
}

TEST_F(MemorySize, IsThatOfTheNarrowestGroupAround) {
  write("a/memory.max", "4000\n");
  write("a/b/memory.max", "max\n");
  EXPECT_EQ(control_group_limit("0::/a/b\n", root.path()), 4000u);
  write("a/b/memory.max", "3000\n");
  EXPECT_EQ(control_group_limit("0::/a/b\n", root.path()), 3000u);
}

TEST_F(MemorySize, IsFoundAtTheRootInsideOfAContainer) {
  write("memory.max", "5000\n");
  EXPECT_EQ(control_group_limit("0::/\n", root.path()), 5000u);
}

TEST_F(MemorySize, ReadsTheFirstVersionOfGroups) {
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/docker/x/memory.limit_in_bytes", "6000\n");
  EXPECT_EQ(control_group_limit("12:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n", root.path()),
            6000u);
}

TEST_F(MemorySize, HasNoLimitWhereThereIsNone) {
  EXPECT_EQ(control_group_limit("0::/a\n", root.path()), UINT64_MAX);
  EXPECT_EQ(control_group_limit("", root.path()), UINT64_MAX);
  EXPECT_EQ(control_group_limit("nonsense", root.path()), UINT64_MAX);
}

} // namespace
} // namespace headrace::detail
