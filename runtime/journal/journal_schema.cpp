#include "headrace/runtime/journal/journal_schema.hpp"

#include <array>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// `HRjl`, the application id in the header of the file.
constexpr int64_t application = 0x48526a6c;

// The primary key orders the rows in the file by stream and number, so that the rows of one stream
// lie together. An unsigned number of 64 bits is stored as the signed number with the same bits.
constexpr std::array steps = {
  R"(CREATE TABLE record (
       stream INTEGER NOT NULL, number INTEGER NOT NULL, crc INTEGER NOT NULL, bytes BLOB NOT NULL,
       PRIMARY KEY (stream, number)) WITHOUT ROWID;
     CREATE TABLE state (
       stream INTEGER PRIMARY KEY, number INTEGER NOT NULL, crc INTEGER NOT NULL,
       bytes BLOB NOT NULL);
     CREATE TABLE total (id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, crcs INTEGER NOT NULL);
     INSERT INTO total VALUES (0, 0, 0);)",
};

status migrate(sqlite_connection& file, std::span<const char* const> missing, size_t version) {
  HEADRACE_TRY(file.run("BEGIN IMMEDIATE", "write"));
  for (const auto* step : missing) HEADRACE_TRY(file.run(step, "write"));
  HEADRACE_TRY(file.run(
    fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application, version)
      .c_str(),
    "write"));
  return file.run("COMMIT", "write");
}

} // namespace

std::span<const char* const> journal_steps() { return steps; }

status bring_up_to_date(sqlite_connection& file, std::span<const char* const> steps) {
  HEADRACE_ASSIGN(const auto kind, file.number("PRAGMA application_id"));
  HEADRACE_ASSIGN(const auto version, file.number("PRAGMA user_version"));
  HEADRACE_ASSIGN(const auto tables, file.number("SELECT count(*) FROM sqlite_schema"));
  const bool fresh = kind == 0 && version == 0 && tables == 0;
  if (!fresh && kind != application)
    return damaged_journal(file.path(), "it is an SQLite file, but not one of a journal");
  const auto newest = static_cast<int64_t>(steps.size());
  if (version > newest)
    return failed_precondition(
      fmt::format("'{}' has version {} of the journal's format, and this build of headrace "
                  "reads versions up to {}: use a later one",
                  file.path(), version, newest));
  if (!fresh && version < 1)
    return damaged_journal(file.path(), fmt::format("it says that its version is {}", version));
  // This changes the file, so it is done only after the file is known to be new or a journal.
  HEADRACE_TRY(file.run("PRAGMA journal_mode = WAL", "write"));
  if (version == newest)
    return {};
  if (auto why = migrate(file, steps.subspan(static_cast<size_t>(version)), steps.size());
      !why.ok()) {
    [[maybe_unused]] const auto rolled_back = file.run("ROLLBACK", "write");
    return why.with_context(fmt::format("from version {} to {}", version, newest));
  }
  return {};
}

} // namespace headrace::detail
