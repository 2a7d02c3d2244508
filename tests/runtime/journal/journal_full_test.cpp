#include "tests/runtime/journal/journal_fixture.hpp"
#include "tests/runtime/journal/simulated_disk.hpp"
#include "tests/runtime/process/child_body.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

uint64_t space_of(const std::string& path) {
  constexpr uint64_t unit = 512; // of st_blocks
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * unit : 0;
}

class JournalDisk : public testing::Test {
protected:
  sqlite_journal_options simulated() {
    auto out = quick(folder.journal());
    out.vfs = disk.name();
    out.on_health = said.health();
    return out;
  }
  scratch_directory folder;
  simulated_disk disk;
  outcomes said;
};

TEST_F(JournalDisk, ThatIsFullGetsTheReserve) {
  auto options = simulated();
  options.reserve_bytes = 1 << 20;
  const auto reserve = folder.journal() + "/reserve";
  std::vector<uint64_t> held;
  options.on_health = [&, record = said.health()](const status& health) {
    held.push_back(space_of(reserve));
    if (held.size() == 1) // the reserve was released, so that writes succeed again
      disk.fail_with(0);
    record(health);
  };
  auto log = open(options);
  EXPECT_GE(space_of(reserve), options.reserve_bytes);
  disk.fail_with(SQLITE_FULL);
  log->append(1, bytes_of("a"), said.expect());
  ASSERT_TRUE(said.wait_for(1));
  EXPECT_EQ(said.kept(), 1u);
  ASSERT_TRUE(said.wait_for_health(status_code::ok));
  ASSERT_EQ(said.healths().size(), 2u);
  EXPECT_EQ(said.healths()[0].code(), status_code::resource_exhausted);
  EXPECT_THAT(said.healths()[0].message(),
              HasSubstr(fmt::format("the disk of '{}' is full: what runs goes on as long as a "
                                    "reserve of 1 MiB lasts; free at least 1.25 MiB there",
                                    folder.journal())));
  log.reset();
  EXPECT_EQ(held[0], 0u);
  EXPECT_GE(held[1], options.reserve_bytes);
}

TEST_F(JournalDisk, ThatStaysFullHasRecordsWait) {
  auto log = open(simulated());
  disk.fail_with(SQLITE_FULL);
  for (const auto* text : {"a", "b", "c"}) log->append(1, bytes_of(text), said.expect(text));
  ASSERT_TRUE(said.wait_for_health("nothing can be kept until there is space; it is tried again "
                                   "every 1ms"));
  EXPECT_EQ(said.ends().size(), 0u);
  disk.fail_with(0);
  ASSERT_TRUE(said.wait_for(3));
  EXPECT_EQ(said.kept(), 3u);
  EXPECT_TRUE(said.wait_for_health(status_code::ok));
  log.reset();
  EXPECT_EQ(texts_of(*open(simulated())), (journal_texts{{1, {"-", "a", "b", "c"}}}));
}

TEST_F(JournalDisk, ThatFailsHasRecordsWait) {
  auto log = open(simulated());
  for (const auto& [writes, syncs] :
       {std::pair{SQLITE_IOERR_WRITE, 0}, {0, SQLITE_IOERR_FSYNC}, {SQLITE_READONLY, 0}}) {
    const auto before = said.ends().size();
    disk.fail_with(writes, syncs);
    log->append(1, bytes_of("x"), said.expect());
    ASSERT_TRUE(said.wait_for_health(status_code::unavailable));
    EXPECT_THAT(said.healths().back().message(), HasSubstr(folder.file()));
    EXPECT_EQ(said.ends().size(), before);
    disk.fail_with(0);
    ASSERT_TRUE(said.wait_for(before + 1));
    ASSERT_TRUE(said.wait_for_health(status_code::ok));
  }
  log.reset();
  EXPECT_EQ(open(simulated())->recover(1).value().records.size(), 3u);
}

TEST_F(JournalDisk, ThatFailsAtACheckpointIsNamedAndHoldsUpNobody) {
  auto options = simulated();
  options.checkpoint_pages = 4;
  auto log = open(options);
  disk.fail_writes_to("journal.sqlite", SQLITE_FULL);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(append(*log, 1, std::string(2000, 'x')).ok());
  ASSERT_TRUE(said.wait_for_health(status_code::resource_exhausted));
  disk.fail_writes_to("journal.sqlite", 0);
  ASSERT_TRUE(said.wait_for_health(status_code::ok));
}

TEST_F(JournalDisk, ThatFailsToTheEndHasRecordsAborted) {
  auto options = simulated();
  options.end_patience = 1ms;
  auto log = open(options);
  disk.fail_with(SQLITE_FULL);
  for (int i = 0; i < 3; ++i) log->append(1, bytes_of("x"), said.expect());
  log.reset();
  ASSERT_EQ(said.ends().size(), 3u);
  for (const auto& [what, outcome] : said.ends()) {
    EXPECT_EQ(outcome.code(), status_code::aborted);
    EXPECT_THAT(outcome.message(), HasSubstr(folder.journal()));
  }
  disk.fail_with(0);
  EXPECT_EQ(texts_of(*open(simulated())), journal_texts{});
}

TEST_F(JournalDisk, ThatHangsHasRecordsAbortedAndTheEndComes) {
  auto options = simulated();
  options.end_patience = 1ms;
  auto log = open(options);
  disk.hold_syncs(true);
  log->append(1, bytes_of("x"), said.expect());
  ASSERT_TRUE(disk.wait_for_held_sync());
  log.reset();
  ASSERT_EQ(said.ends().size(), 1u);
  EXPECT_EQ(said.ends()[0].second.code(), status_code::aborted);
  // The thread of the journal still has the directory open.
  EXPECT_EQ(open_sqlite_journal(simulated()).status().code(), status_code::already_exists);
  disk.hold_syncs(false);
  ASSERT_TRUE(disk.wait_until_closed());
  EXPECT_EQ(said.ends().size(), 1u);
}

TEST_F(JournalDisk, ThatLostTheFileSaysSoUntilItIsBack) {
  for (const auto* ending : {"", "-wal"}) {
    auto options = quick(folder.journal());
    options.on_health = said.health();
    auto log = open(options);
    const auto before = said.ends().size();
    std::filesystem::rename(folder.file() + ending, folder.path() + "/away");
    log->append(1, bytes_of("x"), said.expect());
    ASSERT_TRUE(said.wait_for_health(status_code::unavailable));
    EXPECT_THAT(said.healths().back().message(), HasSubstr(folder.file()));
    EXPECT_EQ(said.ends().size(), before);
    std::filesystem::rename(folder.path() + "/away", folder.file() + ending);
    ASSERT_TRUE(said.wait_for(before + 1));
    ASSERT_TRUE(said.wait_for_health(status_code::ok));
  }
}

// -- on a full file system -------------------------------------------------------------------

constexpr int not_possible = 77;

#define REQUIRE(condition)                                                                         \
  if (!(condition)) {                                                                              \
    say(fmt::format("line {}: {}", __LINE__, #condition));                                         \
    return 1;                                                                                      \
  }

/// Fills the disk of a directory.
void fill(const std::string& directory) {
  const int fd = ::open((directory + "/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string block(4096, 'b');
  while (::write(fd, block.data(), block.size()) > 0) {
  }
  ::close(fd);
}

const child_body on_a_small_disk{
  "journal_on_a_small_disk", [](const auto& args) -> int {
    const std::string& mount = args.at(0);
    if (::unshare(CLONE_NEWNS) != 0
        || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
        || ::mount("none", mount.c_str(), "tmpfs", 0, "size=6m") != 0)
      return not_possible;
    outcomes said;
    auto options = quick(mount + "/journal");
    options.reserve_bytes = 2 << 20;
    options.on_health = said.health();
    options.end_patience = 0s;
    const std::string record(20'000, 'r');
    size_t kept = 0;
    {
      auto log = open(options);
      REQUIRE(append(*log, 1, record).ok());
      fill(mount);
      for (kept = 1; said.healths().empty(); ++kept) REQUIRE(append(*log, 1, record).ok());
      REQUIRE(said.wait_for_health("as long as a reserve of 2 MiB lasts"));
      // For a while the journal stores records in the space of the reserve.
      for (int i = 0; i < 10; ++i, ++kept) REQUIRE(append(*log, 1, record).ok());
      outcomes ends;
      for (int i = 0; i < 200; ++i) log->append(1, bytes_of(record), ends.expect());
      REQUIRE(said.wait_for_health("is used up: nothing can be kept"));
      REQUIRE(ends.kept() < 200);
      // Space is freed, and the journal continues.
      REQUIRE(::truncate((mount + "/ballast").c_str(), 0) == 0);
      REQUIRE(::mount("none", mount.c_str(), "tmpfs", MS_REMOUNT, "size=40m") == 0);
      REQUIRE(ends.wait_for(200));
      REQUIRE(ends.kept() == 200);
      kept += 200;
      REQUIRE(said.wait_for_health(status_code::ok));
      // The disk is filled again, and stays full until the journal is closed.
      fill(mount);
      outcomes last;
      for (int i = 0; i < 400; ++i) log->append(1, bytes_of(record), last.expect());
      REQUIRE(said.wait_for_health("is used up"));
      REQUIRE(said.wait_for_health(status_code::resource_exhausted));
      log.reset();
      kept += last.kept();
    }
    // The journal can also be opened, and has all records.
    outcomes later;
    options.on_health = later.health();
    auto log = open_sqlite_journal(options);
    if (!log)
      say(to_string(log.status()));
    REQUIRE(log.ok());
    REQUIRE((*log)->recover(1).value().records.size() >= kept);
    return 0;
  }};

TEST(JournalSmallDisk, FillsUpAndGoesOn) {
  const scratch_directory folder;
  auto child = on_a_small_disk.start({folder.path()});
  std::string said;
  while (auto line = child.read_line(patience)) said += *line + "\n";
  const auto end = child.wait(patience).value();
  if (end.code == not_possible)
    GTEST_SKIP() << "this user cannot mount a disk";
  EXPECT_EQ(end, process_end{}) << said;
}

} // namespace
} // namespace headrace::detail::test
