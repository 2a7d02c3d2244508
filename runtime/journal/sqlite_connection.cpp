#include "headrace/runtime/journal/sqlite_connection.hpp"

#include "headrace/runtime/base/descriptors.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sqlite3.h>

namespace headrace::detail {

status damaged_journal(const std::string& path, const std::string& what) {
  return data_loss(
    fmt::format("'{}' is damaged: {}. Restore its directory from a copy; or move the "
                "directory away and start anew, then all that was kept in it is "
                "forgotten",
                path, what));
}

// -- statements -----------------------------------------------------------------

void sqlite_statement::finalizer::operator()(sqlite3_stmt* x) const noexcept {
  sqlite3_finalize(x);
}

int sqlite_statement::bind(int i, uint64_t x) {
  return sqlite3_bind_int64(statement_.get(), i, static_cast<sqlite3_int64>(x));
}
int sqlite_statement::bind(int i, const buffer& x) {
  // A null pointer would bind NULL instead of an empty blob.
  const void* data = x.empty() ? "" : static_cast<const void*>(x.data());
  return sqlite3_bind_blob64(statement_.get(), i, data, x.size(), SQLITE_STATIC);
}
int sqlite_statement::finish() {
  const auto out = sqlite3_step(statement_.get());
  sqlite3_reset(statement_.get());
  return out == SQLITE_DONE || out == SQLITE_ROW ? SQLITE_OK : out;
}
bool sqlite_statement::row() {
  const auto out = sqlite3_step(statement_.get());
  done_ = out == SQLITE_DONE;
  return out == SQLITE_ROW;
}
uint64_t sqlite_statement::number(int column) const {
  return static_cast<uint64_t>(sqlite3_column_int64(statement_.get(), column));
}
std::span<const std::byte> sqlite_statement::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  return {data, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

// -- the connection -------------------------------------------------------------

void sqlite_connection::closer::operator()(sqlite3* x) const noexcept { sqlite3_close_v2(x); }

result<sqlite_connection> sqlite_connection::open(const std::string& path, const std::string& vfs) {
  constexpr int flags =
    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite_connection out{path, nullptr};
  const auto opened = with_descriptors([&] {
    sqlite3* base = nullptr;
    const auto code =
      sqlite3_open_v2(path.c_str(), &base, flags, vfs.empty() ? nullptr : vfs.c_str());
    out.base_.reset(base);
    if (code == SQLITE_OK)
      return 0;
    errno = base ? sqlite3_system_errno(base) : ENOMEM;
    return -1;
  });
  if (opened != 0)
    return out.failure("open");
  return out;
}

status sqlite_connection::run(const char* sql, const char* purpose) {
  if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(purpose);
  return {};
}

result<int64_t> sqlite_connection::number(const char* sql) {
  HEADRACE_ASSIGN(auto query, prepare(sql));
  if (!query.row())
    return failure("read");
  return static_cast<int64_t>(query.number(0));
}

result<std::string> sqlite_connection::text(const char* sql) {
  HEADRACE_ASSIGN(auto query, prepare(sql));
  if (!query.row())
    return failure("read");
  const auto bytes = query.bytes(0);
  return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

result<sqlite_statement> sqlite_connection::prepare(const char* sql) {
  sqlite3_stmt* out = nullptr;
  if (sqlite3_prepare_v3(get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &out, nullptr) != SQLITE_OK)
    return failure("read");
  return sqlite_statement{out};
}

sqlite3_file* sqlite_connection::journal() const {
  sqlite3_file* out = nullptr;
  sqlite3_file_control(get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &out);
  return out && out->pMethods ? out : nullptr;
}

namespace {

/// The `errno` of the system call because of which the last call of SQLite failed; 0 if it did not
/// fail because of a system call.
int reason_of(sqlite3* base) {
  const auto code = sqlite3_errcode(base) & 0xff;
  return code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? sqlite3_system_errno(base) : 0;
}

} // namespace

bool sqlite_connection::full() const {
  const auto reason = reason_of(get());
  return (sqlite3_errcode(get()) & 0xff) == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT;
}

status sqlite_connection::failure(const char* purpose) const {
  if (!get())
    return resource_exhausted(fmt::format("cannot {} '{}': out of memory", purpose, path_));
  const auto reason = reason_of(get());
  const auto why =
    fmt::format("cannot {} '{}': {}{}", purpose, path_, sqlite3_errmsg(get()),
                reason != 0 ? fmt::format(" ({})", std::strerror(reason)) : std::string{});
  switch (sqlite3_extended_errcode(get())) {
  case SQLITE_IOERR_SHORT_READ:
  case SQLITE_IOERR_CORRUPTFS:
  case SQLITE_IOERR_DATA: return damaged_journal(path_, sqlite3_errmsg(get()));
  default: break;
  }
  switch (sqlite3_errcode(get()) & 0xff) {
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
  // The statements of this build are correct for its own tables, so the file is damaged.
  case SQLITE_ERROR: return damaged_journal(path_, sqlite3_errmsg(get()));
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH: return {status_code::permission_denied, why};
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return failed_precondition(why + ": another program has it open");
  case SQLITE_NOMEM:
  case SQLITE_FULL: return resource_exhausted(why);
  default: break;
  }
  if (full())
    return resource_exhausted(why);
  if (reason == EACCES || reason == EPERM || reason == EROFS)
    return {status_code::permission_denied, why};
  return unavailable(why);
}

} // namespace headrace::detail
