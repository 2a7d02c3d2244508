#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct sqlite3;
struct sqlite3_file;
struct sqlite3_stmt;

namespace headrace::detail {

/// The error for a damaged file, with a remedy.
status damaged_journal(const std::string& path, const std::string& what);

/// A prepared statement.
class sqlite_statement {
public:
  explicit sqlite_statement(sqlite3_stmt* x = nullptr) : statement_(x) {}

  /// Binds the values in their order and runs the statement to its end. Returns SQLite's result
  /// code, 0 for success.
  template <class... Values>
  int run(const Values&... values) {
    int i = 0;
    int out = 0;
    ((out = out == 0 ? bind(++i, values) : out), ...);
    return out == 0 ? finish() : out;
  }
  /// Moves to the next row. False: there is no further row, or an error occurred; see `done`.
  bool row();
  /// After `row` returned false: true if all rows were returned, without an error.
  bool done() const noexcept { return done_; }
  uint64_t number(int column) const;
  /// Valid until the next row.
  std::span<const std::byte> bytes(int column) const;

private:
  struct finalizer {
    void operator()(sqlite3_stmt* x) const noexcept;
  };
  int bind(int i, uint64_t x);
  int bind(int i, const buffer& x);
  int finish();

  std::unique_ptr<sqlite3_stmt, finalizer> statement_;
  bool done_ = false;
};

/// An SQLite file that no other process uses. Errors name the file.
class sqlite_connection {
public:
  /// Makes the file if it does not exist. `vfs`: the name of SQLite's interface to the disk; empty:
  /// the system's.
  static result<sqlite_connection> open(const std::string& path, const std::string& vfs);

  const std::string& path() const noexcept { return path_; }
  sqlite3* get() const noexcept { return base_.get(); }
  status run(const char* sql, const char* purpose = "read");
  /// The single number that a query returns.
  result<int64_t> number(const char* sql);
  /// The single text that a query returns.
  result<std::string> text(const char* sql);
  result<sqlite_statement> prepare(const char* sql);
  /// The write-ahead log, or in other modes the rollback journal; null if it is not open.
  sqlite3_file* journal() const;

  /// The error of the last call as a status: `cannot PURPOSE 'PATH': reason`.
  status failure(const char* purpose) const;
  /// True if the last call failed because there was no space.
  bool full() const;

private:
  struct closer {
    void operator()(sqlite3* x) const noexcept;
  };
  sqlite_connection(std::string path, sqlite3* base) : path_(std::move(path)), base_(base) {}

  std::string path_;
  std::unique_ptr<sqlite3, closer> base_;
};

} // namespace headrace::detail
