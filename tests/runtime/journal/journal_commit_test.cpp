#include "headrace/runtime/journal/commit_pace.hpp"
#include "headrace/runtime/journal/journal_metrics.hpp"
#include "tests/runtime/journal/journal_fixture.hpp"
#include "tests/runtime/journal/simulated_disk.hpp"

#include <thread>

namespace headrace::detail::test {
namespace {

sqlite_journal_options on(const simulated_disk& disk, const scratch_directory& folder) {
  auto out = quick(folder.journal());
  out.vfs = disk.name();
  return out;
}

TEST(JournalCommit, IsSharedByAllThatCameWhileOneWasUnderWay) {
  scratch_directory folder;
  simulated_disk disk;
  auto log = open(on(disk, folder));
  ASSERT_TRUE(append(*log, 0, "the log is begun").ok());
  const auto before = disk.syncs();
  outcomes said;
  disk.hold_syncs(true);
  log->append(0, bytes_of("first"), said.expect());
  ASSERT_TRUE(disk.wait_for_held_sync());
  {
    std::vector<std::jthread> writers;
    for (uint64_t stream = 1; stream <= 4; ++stream)
      writers.emplace_back([&, stream] {
        for (int i = 0; i < 100; ++i)
          log->append(stream, bytes_of(std::to_string(i)), said.expect());
      });
  }
  EXPECT_EQ(said.ends().size(), 0u);
  disk.hold_syncs(false);
  ASSERT_TRUE(said.wait_for(401));
  EXPECT_EQ(said.kept(), 401u);
  EXPECT_EQ(disk.syncs() - before, 2u);
}

TEST(JournalCommit, IsSyncedBeforeItIsReported) {
  scratch_directory folder;
  simulated_disk disk;
  std::mt19937_64 random{1};
  auto log = open(on(disk, folder));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(append(*log, 1, std::to_string(i)).ok());
    simulated_disk rest{disk.after_power_loss(simulated_disk::unsynced::lost, random)};
    scratch_directory other;
    EXPECT_EQ(open(on(rest, other))->recover(1).value().records.size(), static_cast<size_t>(i + 1));
  }
}

TEST(JournalCommit, IsOneForASingleAppendAndNoneForNothing) {
  scratch_directory folder;
  simulated_disk disk;
  auto log = open(on(disk, folder));
  ASSERT_TRUE(append(*log, 0, "the log is begun").ok());
  for (int i = 0; i < 10; ++i) {
    const auto before = disk.syncs();
    ASSERT_TRUE(append(*log, 1, "x").ok());
    EXPECT_EQ(disk.syncs() - before, 1u);
  }
  const auto before = disk.syncs();
  log->drop(77);
  ASSERT_TRUE(append(*log, 1, "x").ok());
  EXPECT_EQ(disk.syncs() - before, 1u);
}

TEST(JournalCommit, IsCountedWithItsRecordsAndTheirBytes) {
  scratch_directory folder;
  auto options = quick(folder.journal());
  auto log = open(options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(*log, 1, "four").ok());
  log->settle(1, bytes_of("state"));
  ASSERT_TRUE(append(*log, 2, "more").ok());
  const auto& all = *options.metrics;
  EXPECT_EQ(all.count(journal_metric::records), 4u);
  EXPECT_EQ(all.count(journal_metric::bytes), 16u);
  const auto commits = options.metrics->get(journal_metric::commit).value();
  EXPECT_GE(commits.total(), 4u);
  EXPECT_GT(commits.sum, 0);
}

TEST(CommitPace, LetsABurstThroughAndThenOneInEachSpacing) {
  detail::commit_pace pace{10ms, 3};
  const auto start = time_point{} + 1h;
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(pace.next(), start) << i;
    pace.began(start);
  }
  EXPECT_EQ(pace.next(), start + 10ms);
  pace.began(start + 10ms);
  EXPECT_EQ(pace.next(), start + 20ms);
  // After a pause a whole burst is allowed again, and no more than that.
  const auto later = start + 1h;
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(pace.next(), later) << i;
    pace.began(later);
  }
  EXPECT_EQ(pace.next(), later + 10ms);
}

TEST(CommitPace, WithoutASpacingLetsEachThrough) {
  detail::commit_pace pace{duration::zero(), 1};
  const auto start = time_point{} + 1h;
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(pace.next(), start);
    pace.began(start);
  }
}

} // namespace
} // namespace headrace::detail::test
