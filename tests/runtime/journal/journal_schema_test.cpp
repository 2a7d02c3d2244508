#include "headrace/runtime/journal/journal_file.hpp"
#include "tests/runtime/journal/journal_fixture.hpp"

#include <array>
#include <sqlite3.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

/// Changes a file as another program would.
void run(const std::string& path, const char* sql) {
  sqlite3* base = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &base), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(base, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(base);
  sqlite3_close(base);
}

class JournalSchema : public testing::Test {
protected:
  JournalSchema() { EXPECT_TRUE(append(*open(quick(folder.journal())), 1, "old").ok()); }

  scratch_directory folder;
  const char* first = detail::journal_steps()[0];
};

TEST_F(JournalSchema, IsBroughtUpToDateStepByStep) {
  const std::array steps = {first, "CREATE TABLE second (x); INSERT INTO second VALUES (2)",
                            "ALTER TABLE second ADD COLUMN y DEFAULT 3"};
  for (int again = 0; again < 2; ++again) {
    auto file = detail::journal_file::open(folder.file(), "", steps);
    ASSERT_TRUE(file.ok()) << file.status().message();
    auto found = (*file)->read().value();
    EXPECT_EQ(text_of(found.streams.at(1).records.at(0)), "old");
  }
  auto file = detail::sqlite_connection::open(folder.file(), "").value();
  EXPECT_EQ(file.number("SELECT sum(x + y) FROM second").value(), 5);
  EXPECT_EQ(file.number("PRAGMA user_version").value(), 3);
}

TEST_F(JournalSchema, StaysAsItWasIfAStepFails) {
  const std::array steps = {first, "CREATE TABLE second (x)", "no such statement"};
  auto file = detail::journal_file::open(folder.file(), "", steps);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.status().message(), HasSubstr("from version 1 to 3: "));
  EXPECT_EQ(texts_of(*open(quick(folder.journal()))), (journal_texts{{1, {"-", "old"}}}));
  auto left = detail::sqlite_connection::open(folder.file(), "").value();
  EXPECT_EQ(left.number("SELECT count(*) FROM sqlite_schema WHERE name = 'second'").value(), 0);
}

TEST_F(JournalSchema, OfALaterVersionIsRefused) {
  run(folder.file(), "PRAGMA user_version = 9");
  auto log = open_sqlite_journal(quick(folder.journal()));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.status().code(), status_code::failed_precondition);
  EXPECT_THAT(log.status().message(),
              HasSubstr("'" + folder.file()
                        + "' has version 9 of the journal's format, and this build of headrace "
                          "reads versions up to 1"));
}

TEST_F(JournalSchema, OfAnotherProgramIsRefusedAndStaysAsItWas) {
  scratch_directory other;
  ASSERT_TRUE(std::filesystem::create_directory(other.journal()));
  run(other.file(), "CREATE TABLE mine (x); PRAGMA user_version = 1");
  auto log = open_sqlite_journal(quick(other.journal()));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.status().code(), status_code::data_loss);
  EXPECT_THAT(log.status().message(), HasSubstr("not one of a journal"));
  auto left = detail::sqlite_connection::open(other.file(), "").value();
  EXPECT_EQ(left.text("PRAGMA journal_mode").value(), "delete");
}

} // namespace
} // namespace headrace::detail::test
