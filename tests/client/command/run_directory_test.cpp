#include "headrace/client/command/run/run_directory.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <string>
#include <thread>

namespace headrace::detail::command {
namespace {

const run_progress mine{.state = "running", .host = "a", .workers = 1, .process = "p"};

TEST(RunDirectory, AProcessThatWritesWhileTheFilesAreRemovedHasNoErrorAndLeavesNone) {
  const test::scratch_directory folder;
  for (int round = 0; round < 300; ++round) {
    const run_directory directory{folder.path(), ""};
    const auto token = "run-" + std::to_string(round);
    ASSERT_TRUE(directory.publish({"127.0.0.1:1", "a", token}, ""));
    ASSERT_TRUE(directory.claim(1, mine, token));
    std::latch both{2};
    std::jthread removes{[&] {
      both.arrive_and_wait();
      directory.remove(2, token);
    }};
    both.arrive_and_wait();
    for (int i = 0; i < 5; ++i) {
      const auto how = directory.write(1, mine, token);
      ASSERT_TRUE(how.ok()) << to_string(how) << ", round " << round;
    }
    removes.join();
    ASSERT_TRUE(std::filesystem::is_empty(folder.path())) << "round " << round;
  }
}

TEST(RunDirectory, TheEndOfARunLeavesTheFilesOfTheNext) {
  const test::scratch_directory folder;
  const run_directory directory{folder.path(), ""};
  for (int round = 0; round < 100; ++round) {
    const auto old = "old-" + std::to_string(round), next = "next-" + std::to_string(round);
    ASSERT_TRUE(directory.publish({"127.0.0.1:1", "a", old}, ""));
    ASSERT_TRUE(directory.claim(0, mine, old));
    ASSERT_TRUE(directory.claim(1, mine, old));
    std::latch both{2};
    std::jthread removes{[&] {
      both.arrive_and_wait();
      directory.remove(2, old);
    }};
    both.arrive_and_wait();
    auto begins = mine;
    begins.process = "next";
    // `publish` may fail if `remove` deletes the service file of the old run while `publish`
    // replaces it.
    while (!directory.publish({"127.0.0.1:2", "a", next}, old)) {
    }
    ASSERT_TRUE(directory.claim(0, begins, next));
    ASSERT_TRUE(directory.claim(1, begins, next));
    removes.join();
    ASSERT_TRUE(directory.service().value()) << "round " << round;
    ASSERT_EQ(directory.service().value()->token, next) << "round " << round;
    ASSERT_EQ(directory.progress(2, next).size(), 2u) << "round " << round;
    directory.remove(2, next);
    ASSERT_TRUE(std::filesystem::is_empty(folder.path())) << "round " << round;
  }
}

TEST(RunDirectory, ARankThatWasClaimedIsWrittenByItsProcessOfThatRunAlone) {
  const test::scratch_directory folder;
  const run_directory directory{folder.path(), ""};
  ASSERT_TRUE(directory.publish({"127.0.0.1:1", "a", "run"}, ""));
  ASSERT_TRUE(directory.claim(1, mine, "run"));
  const auto state = [&] { return directory.progress(2, "run").at(1).state; };
  auto done = mine;
  done.state = "done";
  EXPECT_TRUE(directory.write(1, done, "another run"));
  EXPECT_EQ(state(), "running");
  auto of_another = done;
  of_another.process = "q";
  EXPECT_TRUE(directory.write(1, of_another, "run"));
  EXPECT_EQ(state(), "running");
  EXPECT_TRUE(directory.write(1, done, "run"));
  EXPECT_EQ(state(), "done");
}

} // namespace
} // namespace headrace::detail::command
