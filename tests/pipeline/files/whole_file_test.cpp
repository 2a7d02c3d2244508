#include "headrace/pipeline/files/whole_file.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <atomic>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

namespace fs = std::filesystem;
using detail::whole_file;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

class WholeFile : public testing::Test {
protected:
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& one : fs::directory_iterator{folder.path()}) out.push_back(one.path());
    return out;
  }
  status write(const std::string& text, bool replaces) const {
    whole_file to{path, replaces};
    HEADRACE_TRY(to.open());
    HEADRACE_TRY(to.write(bytes_of(text)));
    return to.finish();
  }

  test::scratch_folder folder;
  std::string path = folder.path() + "/file";
  std::string there = "already_exists: '" + path + "' is there already";
};

TEST_F(WholeFile, WritesNoOtherFileForANameWithAZeroByte) {
  whole_file to{path + std::string{"\0x", 2}, false};
  EXPECT_THAT(to.open().message(), testing::HasSubstr("Invalid argument"));
  EXPECT_TRUE(files().empty());
}

TEST_F(WholeFile, IsThereWhenItIsFinished) {
  for (const bool replaces : {true, false}) {
    whole_file to{path, replaces};
    ASSERT_TRUE(to.open().ok());
    ASSERT_TRUE(to.write(bytes_of("abc")).ok());
    EXPECT_FALSE(fs::exists(path));
    ASSERT_TRUE(to.finish().ok());
    EXPECT_EQ(test::read_file(path), "abc");
    EXPECT_EQ(files().size(), 1u);
    fs::remove(path);
  }
}

TEST_F(WholeFile, ReplacesAFileOnlyIfItShould) {
  ASSERT_TRUE(write("first", false).ok());
  EXPECT_EQ(to_string(write("second", false)), there);
  EXPECT_EQ(test::read_file(path), "first");
  ASSERT_TRUE(write("third", true).ok());
  EXPECT_EQ(test::read_file(path), "third");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(WholeFile, OfSeveralAtTheSameTimeExactlyOneWins) {
  for (int round = 0; round < 20; ++round) {
    constexpr int writers = 4;
    std::atomic<int> ready = 0, won = 0, refused = 0, winner = -1;
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        whole_file to{path, false};
        const bool written = to.open().ok() && to.write(bytes_of(std::to_string(i))).ok();
        for (++ready; ready.load() < writers;) std::this_thread::yield();
        const auto how = written ? to.finish() : internal_error("not written");
        refused += how.code() == status_code::already_exists;
        if (how.ok()) {
          ++won;
          winner = i;
        }
      });
    for (auto& one : threads) one.join();
    ASSERT_EQ(won, 1);
    ASSERT_EQ(refused, writers - 1);
    ASSERT_EQ(test::read_file(path), std::to_string(winner));
    ASSERT_EQ(files().size(), 1u);
    fs::remove(path);
  }
}

TEST_F(WholeFile, HasItsNameThoughTheAnswerWasLost) {
  // The hard link stands for a request to a file server whose answer was lost: the file already has
  // its name when the request is repeated.
  whole_file to{path, false};
  ASSERT_TRUE(to.open().ok());
  ASSERT_TRUE(to.write(bytes_of("abc")).ok());
  const auto partial = files();
  ASSERT_EQ(partial.size(), 1u);
  fs::create_hard_link(partial[0], path);
  EXPECT_EQ(to.finish(), status{});
  EXPECT_EQ(test::read_file(path), "abc");
  EXPECT_EQ(files().size(), 1u);
}

} // namespace
} // namespace headrace::detail
