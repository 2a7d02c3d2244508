#include "tests/cluster/processes.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

namespace headrace::detail::test {
namespace {

// These tests kill dispatchers and start them again at the same port.

const std::vector<std::string> timing{"--heartbeat", "200ms", "--lease", "2s"};

class DispatcherComesBack : public testing::Test {
protected:
  static server_process begin(const std::vector<std::string>& options, uint16_t port = 0) {
    auto all = timing;
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--port", std::to_string(port)});
    return {"dispatcher", std::move(all)};
  }
  /// Kills the dispatcher, and starts another one at the same port.
  void kill_and_begin(int signal = SIGKILL) {
    const auto port = dispatcher->port();
    dispatcher->process.kill(signal);
    ASSERT_TRUE(dispatcher->process.wait(patience));
    dispatcher = std::make_unique<server_process>(begin(options, port));
  }
  void begin_with(std::vector<std::string> what, size_t count) {
    options = std::move(what);
    dispatcher = std::make_unique<server_process>(begin(options));
    for (size_t i = 0; i < count; ++i) workers.push_back(start_worker(dispatcher->address));
    await_workers(dispatcher->address, count);
  }
  distribute_options reads(std::string job = {}) const {
    return {.processing_mode = sharding_policy::dynamic,
            .service = dispatcher->address,
            .job_name = std::move(job)};
  }

  scratch_directory folder;
  std::vector<std::string> options;
  std::unique_ptr<server_process> dispatcher;
  std::vector<server_process> workers;
};

TEST_F(DispatcherComesBack, AndEachElementComesOnceThoughItIsKilledAgainAndAgain) {
  begin_with({"--work-dir", folder.journal()}, 2);
  constexpr int64_t total = 3'000'000;
  auto it = dataset::range(total).apply(distribute{reads()}).iterate();
  once seen{total};
  for (size_t kills = 0; auto some = it.next_block();) {
    seen.add(*some);
    if (kills < 3 && seen.count() > (kills + 1) * total / 5) {
      // The second dispatcher gets SIGTERM.
      kill_and_begin(++kills == 2 ? SIGTERM : SIGKILL);
    }
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
}

TEST_F(DispatcherComesBack, AndEachOfItsWorkersHasTheShardThatItHad) {
  begin_with(
    {"--work-dir", folder.journal(), "--worker-addresses", "127.0.0.1,127.0.0.1,localhost"}, 3);
  constexpr int64_t total = 3'000'000;
  auto about = reads();
  about.processing_mode = sharding_policy::data;
  auto it = dataset::range(total).apply(distribute{about}).iterate();
  once seen{total};
  for (bool killed = false; auto some = it.next_block();) {
    seen.add(*some);
    if (!std::exchange(killed, true))
      kill_and_begin();
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u) << "nobody began anew";
  EXPECT_EQ(seen.failed(), 0u);
}

TEST_F(DispatcherComesBack, WithItsDatasetsAndTheRepetitionsOfItsJobs) {
  begin_with({"--work-dir", folder.journal()}, 1);
  register_dataset(dispatcher->address, dataset::range(100), "hundred");
  const auto read = [&] {
    once seen{100};
    auto it = from_dataset_id(reads("train"), "hundred").iterate();
    while (auto some = it.next_block()) seen.add(*some);
    EXPECT_EQ(seen.wrong(), 0u);
    return seen.count();
  };
  EXPECT_EQ(read(), 100u);
  kill_and_begin();
  await_workers(dispatcher->address, 1);
  EXPECT_EQ(read(), 0u) << "the first repetition of this job is over";
}

TEST_F(DispatcherComesBack, WithoutADirectoryAndSaysWhatItLost) {
  begin_with({}, 1);
  auto it = dataset::range(int64_t{1} << 40).apply(distribute{reads("train")}).iterate();
  ASSERT_TRUE(it.next_block());
  kill_and_begin();
  status why;
  while (auto rows = it.next_block())
    if (!rows->errors.empty())
      why = rows->errors.front().why;
  EXPECT_THAT(why.message(), testing::HasSubstr("--work-dir")) << "its job is gone";
}

TEST_F(DispatcherComesBack, NotBesideAnotherOneNorWhereItsStoreIsDamaged) {
  const auto store = folder.journal();
  begin_with({"--work-dir", store}, 0);
  const auto refusal = [&] {
    auto second = headrace_command(
      {"dispatcher", "--no-restart", "--port", "0", "--log-level", "off", "--work-dir", store},
      true);
    const auto text = second.read_until("headrace dispatcher:", patience).value();
    EXPECT_FALSE(second.wait(patience).value() == process_end{});
    return text;
  };
  EXPECT_THAT(refusal(), testing::HasSubstr("in use by process"));
  dispatcher->process.kill(SIGTERM);
  ASSERT_TRUE(dispatcher->process.wait(patience));
  {
    std::fstream file{folder.file(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(0);
    file << "this is no database";
  }
  EXPECT_THAT(refusal(),
              testing::AllOf(testing::HasSubstr("journal.sqlite"), testing::HasSubstr("start")));
}

} // namespace
} // namespace headrace::detail::test
