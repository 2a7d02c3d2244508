#include "tests/runtime/journal/journal_fixture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace headrace::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SqliteJournal, KeepsStatesAndTheRecordsSince) {
  scratch_directory folder;
  {
    auto log = open(quick(folder.journal()));
    EXPECT_THAT(log->streams(), ElementsAre());
    EXPECT_TRUE(append(*log, 0, "a").ok());
    EXPECT_TRUE(append(*log, 0, "").ok());
    EXPECT_TRUE(append(*log, UINT64_MAX, "x").ok());
    EXPECT_TRUE(append(*log, 7, "p").ok());
    log->settle(7, bytes_of("P"));
    EXPECT_TRUE(append(*log, 7, "q").ok());
    EXPECT_TRUE(append(*log, 8, "gone").ok());
    log->drop(8);
    EXPECT_THAT(log->streams(), ElementsAre(0, 7, UINT64_MAX));
  }
  for (int again = 0; again < 2; ++again) {
    auto log = open(quick(folder.journal()));
    EXPECT_EQ(texts_of(*log),
              (journal_texts{{0, {"-", "a", ""}}, {7, {"P", "q"}}, {UINT64_MAX, {"-", "x"}}}));
  }
}

TEST(SqliteJournal, GoesOnWithAStreamThatItFound) {
  scratch_directory folder;
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "a").ok());
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "b").ok());
  open(quick(folder.journal()))->settle(1, bytes_of("AB"));
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "c").ok());
  EXPECT_EQ(texts_of(*open(quick(folder.journal()))), (journal_texts{{1, {"AB", "c"}}}));
  open(quick(folder.journal()))->drop(1);
  EXPECT_EQ(texts_of(*open(quick(folder.journal()))), journal_texts{});
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "anew").ok());
  EXPECT_EQ(texts_of(*open(quick(folder.journal()))), (journal_texts{{1, {"-", "anew"}}}));
}

TEST(SqliteJournal, GivesAStreamAwayOnce) {
  scratch_directory folder;
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "a").ok());
  auto log = open(quick(folder.journal()));
  EXPECT_TRUE(log->recover(2).value().records.empty());
  EXPECT_EQ(log->recover(1).value().records.size(), 1u);
  EXPECT_EQ(log->recover(1).status().code(), status_code::failed_precondition);
  EXPECT_TRUE(append(*log, 2, "b").ok());
  EXPECT_EQ(log->recover(2).status().code(), status_code::failed_precondition);
  log->drop(2);
  EXPECT_TRUE(log->recover(2).value().records.empty());
}

TEST(SqliteJournal, GivesAlignedRecordsOfEachSize) {
  scratch_directory folder;
  const auto sizes = {1, 63, 64, 65, 4000, 40'000, 300'000, 3'000'000};
  {
    auto log = open(quick(folder.journal()));
    for (const auto n : sizes)
      log->append(1, bytes_of(std::string(static_cast<size_t>(n), static_cast<char>('a' + n % 23))),
                  nullptr);
  }
  auto found = open(quick(folder.journal()))->recover(1).value();
  ASSERT_EQ(found.records.size(), sizes.size());
  auto at = found.records.begin();
  for (const auto n : sizes) {
    EXPECT_EQ(text_of(*at), std::string(static_cast<size_t>(n), static_cast<char>('a' + n % 23)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at++->data()) % buffer_alignment, 0u);
  }
}

TEST(SqliteJournal, AnswersInTheOrderOfTheCalls) {
  scratch_directory folder;
  outcomes said;
  std::vector<std::pair<std::string, status>> expected;
  {
    auto log = open(quick(folder.journal()));
    for (uint64_t i = 0; i < 500; ++i) {
      expected.emplace_back(std::to_string(i), status{});
      log->append(i % 3, bytes_of(std::to_string(i)), said.expect(std::to_string(i)));
      if (i % 50 == 0)
        log->settle(i % 3, bytes_of("s"));
    }
  }
  EXPECT_EQ(said.ends(), expected);
}

TEST(SqliteJournal, WritesWhatIsQueuedAsItEnds) {
  scratch_directory folder;
  outcomes said;
  {
    auto log = open(quick(folder.journal()));
    for (int i = 0; i < 1000; ++i) log->append(1, bytes_of("x"), said.expect());
  }
  EXPECT_EQ(said.kept(), 1000u);
  EXPECT_EQ(open(quick(folder.journal()))->recover(1).value().records.size(), 1000u);
}

TEST(SqliteJournal, TakesCallsFromAnAnswer) {
  scratch_directory folder;
  outcomes said;
  auto log = open(quick(folder.journal()));
  log->append(1, bytes_of("a"), [&](const status&) {
    log->append(1, bytes_of("b"), said.expect());
    log->settle(2, bytes_of("c"));
  });
  EXPECT_TRUE(said.wait_for(1));
  log.reset();
  EXPECT_EQ(texts_of(*open(quick(folder.journal()))),
            (journal_texts{{1, {"-", "a", "b"}}, {2, {"c"}}}));
}

TEST(SqliteJournal, DoesNotGrowForEverUnderAppendsAndStates) {
  scratch_directory folder;
  auto options = quick(folder.journal());
  options.checkpoint_pages = 50;
  auto log = open(options);
  const std::string record(500, 'r');
  const auto round = [&] {
    for (int i = 0; i < 100; ++i) log->append(1, bytes_of(record), nullptr);
    log->settle(1, bytes_of(std::string(20'000, 's')));
    EXPECT_TRUE(append(*log, 2, "x").ok());
    log->settle(2, {});
  };
  const auto size = [&] {
    return std::filesystem::file_size(folder.file())
           + std::filesystem::file_size(folder.file() + "-wal");
  };
  for (int i = 0; i < 20; ++i) round();
  const auto before = size();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_LE(size(), before + before / 2);
}

// -- exclusive access --------------------------------------------------------------

TEST(SqliteJournal, IsRefusedToASecondOneWithTheNameOfTheFirst) {
  scratch_directory folder;
  {
    auto log = open(quick(folder.journal()));
    auto second = open_sqlite_journal(quick(folder.journal() + "/."));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.status().code(), status_code::already_exists);
    EXPECT_THAT(
      second.status().message(),
      HasSubstr(fmt::format("'{}' is in use by this process ({})", folder.journal(), ::getpid())));
  }
  EXPECT_TRUE(open_sqlite_journal(quick(folder.journal())).ok());
}

TEST(SqliteJournal, NamesAParentThatIsNotThere) {
  scratch_directory folder;
  auto out = open_sqlite_journal(quick(folder.path() + "/no/journal"));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.status().code(), status_code::not_found);
  EXPECT_THAT(out.status().message(), HasSubstr(folder.path() + "/no/journal"));
}

TEST(SqliteJournal, NamesAFileInPlaceOfTheDirectory) {
  scratch_directory folder;
  std::ofstream{folder.journal()} << "text";
  auto out = open_sqlite_journal(quick(folder.journal()));
  ASSERT_FALSE(out);
  EXPECT_THAT(out.status().message(), HasSubstr("Not a directory"));
}

/// While an object of this class exists, the process does not have the rights of root.
class commoner {
public:
  commoner() {
    if (::geteuid() == 0)
      root_ = ::seteuid(65534) == 0;
  }
  ~commoner() {
    if (root_) [[maybe_unused]]
      const auto back = ::seteuid(0);
  }

private:
  bool root_ = false;
};

TEST(SqliteJournal, SaysThatItMayNotWriteInADirectory) {
  scratch_directory folder;
  EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "a").ok());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(folder.journal().c_str(), 0555), 0);
  for (const auto* name : {"/lock", "/reserve", "/journal.sqlite"})
    ASSERT_EQ(::chmod((folder.journal() + name).c_str(), 0444), 0);
  commoner rights;
  auto out = open_sqlite_journal(quick(folder.journal()));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.status().code(), status_code::permission_denied) << out.status().message();
  EXPECT_THAT(out.status().message(), HasSubstr(folder.journal()));
}

} // namespace
} // namespace headrace::detail::test
