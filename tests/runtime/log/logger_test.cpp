#include "headrace/runtime/log/logger.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace headrace;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

struct LoggerTest : testing::Test {
  std::vector<std::string> lines;
  logger open(log_format format, log_level level = log_level::info) {
    return *logger::open(
      {.level = level, .format = format, .sink = [this](auto line) { lines.emplace_back(line); }});
  }
};

TEST_F(LoggerTest, WritesKeyValuePairsForEyes) {
  auto log = open(log_format::text);
  log.warn("worker joined",
           {{"worker", worker_id{7}}, {"address", "127.0.0.1:80"}, {"fresh", true}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], EndsWith(" warn  worker joined worker=7 address=127.0.0.1:80 fresh=true"));
}
TEST_F(LoggerTest, QuotesValuesThatWouldBreakTheLine) {
  auto log = open(log_format::text);
  log.info("two\nlines", {{"a", "x y"}, {"b", ""}, {"c", "q\"=\n"}});
  EXPECT_THAT(lines.at(0), EndsWith(R"(info  two\nlines a="x y" b="" c="q\"=\n")"));
}
TEST_F(LoggerTest, WritesOneJsonObjectALine) {
  auto log = open(log_format::json);
  log.info("say \"hi\"", {{"n", -3}, {"x", 0.5}, {"bad", "\xff"}, {"nan", std::nan("")}});
  EXPECT_THAT(lines.at(0), StartsWith(R"({"time":")"));
  EXPECT_THAT(lines.at(0),
              EndsWith("\"level\":\"info\",\"message\":\"say \\\"hi\\\"\",\"n\":-3,\"x\":0.5,"
                       "\"bad\":\"\xEF\xBF\xBD\",\"nan\":\"nan\"}"));
}
TEST_F(LoggerTest, LeavesOutWhatIsBelowItsLevel) {
  auto log = open(log_format::text, log_level::warn);
  log.info("no");
  log.error("yes");
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_FALSE(log.enabled(log_level::info));
  EXPECT_FALSE(open(log_format::text, log_level::off).enabled(log_level::off));
}
TEST_F(LoggerTest, PutsItsContextBeforeTheFields) {
  auto log = open(log_format::text).with({{"job", 4}}).with({{"task", 5}});
  log.info("done", {{"rows", 6u}});
  EXPECT_THAT(lines.at(0), EndsWith("info  done job=4 task=5 rows=6"));
}
TEST_F(LoggerTest, KeepsLinesOfManyThreadsWhole) {
  auto log = open(log_format::text);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([log, t] {
        for (int i = 0; i < 100; ++i) log.info("tick", {{"thread", t}, {"i", i}});
      });
  }
  ASSERT_EQ(lines.size(), 400u);
  for (auto& line : lines) EXPECT_THAT(line, HasSubstr(" info  tick thread="));
}
TEST(LoggerFileTest, AppendsToItsFile) {
  auto path = testing::TempDir() + "headrace_log_" + std::to_string(getpid());
  for (int i = 0; i < 2; ++i) logger::open({.file = path})->info("line", {{"i", i}});
  std::ifstream in(path);
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  EXPECT_THAT(first, EndsWith("i=0"));
  EXPECT_THAT(second, EndsWith("i=1"));
  unlink(path.c_str());
}
TEST(LoggerFileTest, KeepsItsFileFromProgramsThatAreStarted) {
  auto path = testing::TempDir() + "headrace_log_kept_" + std::to_string(getpid());
  auto log = logger::open({.file = path});
  ASSERT_TRUE(log);
  int found = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    std::error_code none;
    if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none) != path)
      continue;
    ++found;
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(found, 1);
  unlink(path.c_str());
}
TEST(LoggerFileTest, NamesTheFileItCannotOpen) {
  auto log = logger::open({.file = "/dev/null/x"});
  ASSERT_FALSE(log);
  EXPECT_THAT(log.status().message(), HasSubstr("/dev/null/x"));
}
TEST(LoggerNameTest, NamesTheChoicesForAnUnknownLevel) {
  EXPECT_EQ(*parse_log_level("warn"), log_level::warn);
  EXPECT_EQ(*parse_log_format("json"), log_format::json);
  EXPECT_EQ(parse_log_format("xml").status().message(),
            "unknown log format \"xml\": must be one of text, json");
}
TEST(LoggerNoneTest, WritesNothingWhenDefaultMade) {
  logger log;
  log.error("nowhere", {{"x", 1}});
  EXPECT_FALSE(log.with({{"a", 1}}).enabled(log_level::error));
}

} // namespace
