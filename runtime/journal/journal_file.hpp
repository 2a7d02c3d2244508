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

/// The reason why a write failed; converts to false if the write succeeded.
struct journal_failure {
  status why = {};
  bool full = false; ///< there was no space
  explicit operator bool() const noexcept { return !why.ok(); }
};

/// The complete content of a journal.
struct journal_contents {
  std::unordered_map<uint64_t, journal::kept> streams;
  journal_ledger ledger;
};

/// The SQLite file of a journal. Errors name the file. To be used by one thread at a time.
class journal_file {
public:
  static result<std::unique_ptr<journal_file>>
  open(const std::string& path, const std::string& vfs,
       std::span<const char* const> steps = journal_steps());
  virtual ~journal_file() = default;

  /// Reads and checks the complete content.
  virtual result<journal_contents> read() = 0;
  /// Writes one transaction, which is durable when the call has returned without a failure. After a
  /// failure no part of it is written, and the call may be repeated.
  virtual journal_failure write(std::span<const journal_change> changes) = 0;
  /// The number of pages in the write-ahead log.
  virtual int log_pages() const = 0;
  /// Moves the content of the log into the file, so that the log begins anew.
  virtual journal_failure checkpoint() = 0;
};

} // namespace headrace::detail
