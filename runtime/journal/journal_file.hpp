#pragma once

#include "headrace/runtime/journal/journal.hpp"
#include "headrace/runtime/journal/journal_ledger.hpp"
#include "headrace/runtime/journal/journal_schema.hpp"
#include "headrace/runtime/journal/sqlite_connection.hpp"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

namespace headrace::detail {

/// Why something could not be written; false: it was.
struct write_failure {
  status why = {};
  bool full = false; ///< for want of space
  explicit operator bool() const noexcept { return !why.ok(); }
};

/// All that a journal holds.
struct journal_contents {
  std::unordered_map<uint64_t, journal::kept> streams;
  journal_ledger ledger;
};

/// The SQLite file of a journal. Errors name it. One thread at a time.
class journal_file {
public:
  static result<std::unique_ptr<journal_file>>
  open(const std::string& path, const std::string& vfs,
       std::span<const char* const> steps = journal_steps());
  virtual ~journal_file() = default;

  /// Reads and checks everything.
  virtual result<journal_contents> read() = 0;
  /// One transaction, durable once this returns without a failure; nothing of it is there after a
  /// failure, and it may be tried again.
  virtual write_failure write(std::span<const journal_change> changes) = 0;
  /// Pages in the write-ahead log.
  virtual int log_pages() const = 0;
  /// Brings what is in the log into the file, so that the log begins anew.
  virtual write_failure checkpoint() = 0;
};

} // namespace headrace::detail
