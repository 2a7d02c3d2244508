#include "headrace/runtime/journal/log_damage.hpp"
#include "tests/runtime/journal/journal_fixture.hpp"
#include "tests/runtime/journal/simulated_disk.hpp"
#include "tests/support/test_seed.hpp"

#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

constexpr size_t page = 4096;
constexpr size_t log_header = 32;
constexpr size_t log_frame = page + 24;

class JournalDamage : public testing::Test {
protected:
  sqlite_journal_options on(const simulated_disk& disk) const {
    auto out = quick(folder->journal());
    out.vfs = disk.name();
    return out;
  }
  /// A journal with several streams and free pages. If `checkpoint_pages` is 1, all records except
  /// perhaps the last are in the database file; if it is large, all are in the write-ahead log.
  disk_image written(int checkpoint_pages) {
    simulated_disk disk;
    auto options = on(disk);
    options.checkpoint_pages = checkpoint_pages;
    disk_image out;
    auto log = open(options);
    for (int i = 0; i < 20; ++i) {
      for (uint64_t stream = 0; stream < 4; ++stream)
        log->append(stream, bytes_of(fmt::format("{} {}", i, std::string(400, 'x'))), nullptr);
      log->append(9, bytes_of(std::string(1000, 'y')), nullptr);
      EXPECT_TRUE(append(*log, 8, "z").ok());
      if (i == 10)
        log->settle(3, bytes_of(std::string(5000, 's')));
    }
    log->drop(9);
    EXPECT_TRUE(append(*log, 8, "last").ok());
    EXPECT_TRUE(append(*log, 8, "after the checkpoint of the one before").ok());
    out = disk.content(); // read before the journal is closed, because closing empties the log
    log.reset();
    simulated_disk there{out};
    expected = texts_of(*open(on(there)));
    EXPECT_EQ(expected.at(8).size(), 23u);
    return out;
  }
  /// True if the journal is refused with an error that names its file, and false if its content is
  /// complete. Anything else fails the test.
  bool refused(const disk_image& damaged) const {
    simulated_disk there{damaged};
    auto log = open_sqlite_journal(on(there));
    if (log) {
      EXPECT_EQ(texts_of(**log), expected);
      return false;
    }
    EXPECT_THAT(log.status().message(), HasSubstr(folder->file()));
    if (log.status().code() != status_code::failed_precondition) { // damage to the version number
      EXPECT_EQ(log.status().code(), status_code::data_loss) << log.status().message();
      EXPECT_THAT(log.status().message(), HasSubstr("Restore its directory from a copy; or move"));
    }
    return true;
  }

  std::unique_ptr<scratch_directory> folder = scratch_directory::in_memory();
  journal_texts expected;
};

TEST_F(JournalDamage, OfTheFileIsRefusedOrWithoutEffect) {
  std::mt19937_64 random{test_seed()};
  const auto whole = written(1);
  ASSERT_LT(whole.at("journal.sqlite-wal").size(), 20 * log_frame);
  const auto size = whole.at("journal.sqlite").size();
  size_t refusals = 0;
  constexpr size_t flips = 600;
  for (size_t i = 0; i < flips && !HasFailure(); ++i) {
    auto damaged = whole;
    const auto at = random() % size;
    const auto by = static_cast<char>(1 + random() % 255);
    SCOPED_TRACE(fmt::format("byte {} ^ {}", at, static_cast<int>(by)));
    damaged["journal.sqlite"][at] ^= by;
    refusals += refused(damaged) ? 1 : 0;
  }
  EXPECT_GT(refusals, flips / 10); // most of the flipped bits are in free space
}

TEST_F(JournalDamage, OfWholePagesIsRefusedOrWithoutEffect) {
  const auto whole = written(1);
  const auto& bytes = whole.at("journal.sqlite");
  for (size_t at = 0; at < bytes.size() && !HasFailure(); at += page) {
    SCOPED_TRACE(fmt::format("page {}", at / page + 1));
    auto damaged = whole;
    std::fill_n(damaged["journal.sqlite"].begin() + static_cast<ptrdiff_t>(at), page, '\0');
    refused(damaged);
    // Puts each other page in the place of this one, as a disk does that writes to the wrong place.
    for (size_t other = 0; other < bytes.size(); other += page) {
      damaged = whole;
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(other), page,
                  damaged["journal.sqlite"].begin() + static_cast<ptrdiff_t>(at));
      refused(damaged);
    }
  }
}

TEST_F(JournalDamage, OfTheListOfFreePagesIsRefused) {
  // All rows are intact, but would be overwritten: the list of free pages contains a page in use.
  auto damaged = written(1);
  auto& bytes = damaged["journal.sqlite"];
  constexpr size_t first_of_list = 32 + 3; // last byte of the list's page number in the header
  constexpr size_t first_in_list = 8 + 3;  // last byte of the first page number in a list page
  const auto list = static_cast<unsigned char>(bytes[first_of_list]);
  ASSERT_GT(list, 0);
  bytes[(list - 1u) * page + first_in_list] = 2; // the page at which a table begins
  EXPECT_TRUE(refused(damaged));
}

TEST_F(JournalDamage, ByPagesOfAnEarlierTimeIsRefused) {
  // Simulates a disk that reported a page as written and did not write it.
  simulated_disk disk;
  auto options = on(disk);
  options.checkpoint_pages = 1;
  auto log = open(options);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(append(*log, 1, std::string(300, 'a')).ok());
  log.reset();
  const auto before = disk.content();
  log = open(options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(*log, 1, "b").ok());
  log.reset();
  const auto after = disk.content();
  {
    simulated_disk there{after};
    expected = texts_of(*open(on(there)));
  }
  size_t stale = 0;
  const auto& old = before.at("journal.sqlite");
  for (size_t at = page; at < old.size(); at += page) {
    auto damaged = after;
    auto& now = damaged["journal.sqlite"];
    if (std::memcmp(&now[at], &old[at], page) == 0)
      continue;
    ++stale;
    std::copy_n(old.begin() + static_cast<ptrdiff_t>(at), page,
                now.begin() + static_cast<ptrdiff_t>(at));
    EXPECT_TRUE(refused(damaged)) << "page " << at / page + 1;
  }
  EXPECT_GE(stale, 2u);
}

TEST_F(JournalDamage, OfTheLogIsRefusedUnlessItIsAtItsEnd) {
  std::mt19937_64 random{test_seed()};
  const auto whole = written(1'000'000);
  const auto& log = whole.at("journal.sqlite-wal");
  size_t commits = 0, last = 0; // `last`: the offset at which the last commit begins
  for (size_t at = log_header, begin = at; at < log.size(); at += log_frame)
    if (log[at + 4] != 0 || log[at + 5] != 0 || log[at + 6] != 0 || log[at + 7] != 0) {
      ++commits;
      last = std::exchange(begin, at + log_frame);
    }
  ASSERT_GT(commits, 20u);
  for (size_t i = 0; i < 300 && !HasFailure(); ++i) {
    auto damaged = whole;
    const auto at = random() % last;
    SCOPED_TRACE(fmt::format("byte {} of {}", at, log.size()));
    damaged["journal.sqlite-wal"][at] ^= static_cast<char>(1 + random() % 255);
    EXPECT_TRUE(refused(damaged));
  }
  // Damages the header of the frame before the last commit and the first 8 bytes of its page. Only
  // the last commit shows that this frame is not the incomplete end of the log.
  for (size_t at = last - log_frame; at < last - log_frame + 32; ++at) {
    auto damaged = whole;
    SCOPED_TRACE(fmt::format("byte {} of {}", at, log.size()));
    damaged["journal.sqlite-wal"][at] ^= 1;
    EXPECT_TRUE(refused(damaged));
  }
  // If the log ends within the last commit, all other commits are kept.
  for (size_t at = last; at < log.size() && !HasFailure(); at += 512) {
    auto torn = whole;
    torn["journal.sqlite-wal"].resize(at);
    simulated_disk there{torn};
    auto opened = open_sqlite_journal(on(there));
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    auto found = texts_of(**opened);
    auto before = expected;
    before.at(8).pop_back();
    EXPECT_EQ(found, before);
  }
}

TEST_F(JournalDamage, ByAMissingFileBesideItsLogIsRefused) {
  const auto whole = written(1'000'000);
  for (const bool empty : {false, true}) {
    auto damaged = whole;
    if (empty)
      damaged["journal.sqlite"].clear();
    else
      damaged.erase("journal.sqlite");
    EXPECT_TRUE(refused(damaged));
  }
}

TEST_F(JournalDamage, SaysWhichFileAndWhatToDo) {
  scratch_directory disk;
  EXPECT_TRUE(append(*open(quick(disk.journal())), 1, "a").ok());
  std::ofstream{disk.file()} << "no SQLite file, but a text that somebody has put there";
  auto log = open_sqlite_journal(quick(disk.journal()));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.status().message(),
            "'" + disk.file()
              + "' is damaged: file is not a database. Restore its directory from a copy; or move "
                "the directory away and start anew, then all that was kept in it is forgotten");
}

} // namespace
} // namespace headrace::detail::test
