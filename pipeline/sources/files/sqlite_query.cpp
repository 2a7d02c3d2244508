#include "headrace/pipeline/sources/files/sqlite_query.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"
#include "headrace/runtime/base/descriptors.hpp"

#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>

namespace headrace::detail {

namespace {

constexpr int wait_for_writers_ms = 10'000;

std::string_view kind_of(int type) {
  switch (type) {
  case SQLITE_INTEGER: return "an integer";
  case SQLITE_FLOAT: return "a real number";
  case SQLITE_TEXT: return "text";
  case SQLITE_BLOB: return "a blob";
  default: return "null";
  }
}

class query_impl final : public sqlite_query {
public:
  query_impl(std::string path, const std::vector<field_format>& columns, std::stop_token stop)
    : path_(std::move(path)), columns_(columns), stop_(std::move(stop)) {}
  ~query_impl() override {
    sqlite3_finalize(statement_);
    sqlite3_close(base_);
  }
  query_impl(const query_impl&) = delete;
  query_impl& operator=(const query_impl&) = delete;

  status start(const std::string& query) {
    // Checks that the file can be opened and is not a folder, because the error of SQLite does not
    // state the reason.
    HEADRACE_TRY(open_bytes(path_, file_compression::none, stop_).status());
    constexpr int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    const auto opened = with_descriptors(
      [&] {
        sqlite3_close(std::exchange(base_, nullptr));
        if (sqlite3_open_v2(path_.c_str(), &base_, flags, nullptr) == SQLITE_OK)
          return 0;
        errno = base_ ? sqlite3_system_errno(base_) : ENOMEM;
        return -1;
      },
      stop_);
    if (opened != 0)
      return failed("cannot open");
    sqlite3_busy_timeout(base_, wait_for_writers_ms);
    sqlite3_progress_handler(
      base_, 10'000,
      [](void* self) { return static_cast<int>(static_cast<query_impl*>(self)->stopped()); }, this);
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(base_, query.data(), static_cast<int>(query.size()), &statement_, &rest)
        != SQLITE_OK)
      return failed("cannot prepare the query for");
    if (!statement_)
      return invalid_argument("the query is empty");
    const auto after = text::strip({rest, static_cast<size_t>(query.data() + query.size() - rest)});
    if (!after.empty())
      return invalid_argument(fmt::format("the query goes on after its end, with '{}'", after));
    if (!sqlite3_stmt_readonly(statement_))
      return invalid_argument("the query writes; it must only read");
    if (const auto n = static_cast<size_t>(sqlite3_column_count(statement_)); n != columns_.size())
      return invalid_argument(fmt::format("the query on '{}' gives {} columns, {} are described",
                                          path_, n, columns_.size()));
    return {};
  }

  result<bool> step() override {
    switch (sqlite3_step(statement_)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    case SQLITE_INTERRUPT: return cancelled("the iteration was stopped");
    default: return failed("cannot read");
    }
  }

  status read(row_table& to) const override {
    for (size_t i = 0; i < columns_.size(); ++i)
      if (auto why = append(static_cast<int>(i), to[i]); !why.ok())
        return why.with_context(
          fmt::format("column '{}'", sqlite3_column_name(statement_, static_cast<int>(i))));
    return {};
  }

private:
  bool stopped() const { return stop_.stop_requested(); }

  status failed(const char* what) const {
    const auto why =
      fmt::format("{} '{}': {}", what, path_, base_ ? sqlite3_errmsg(base_) : "out of memory");
    switch (base_ ? sqlite3_errcode(base_) & 0xff : SQLITE_NOMEM) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return data_loss(why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return unavailable(why);
    case SQLITE_NOMEM:
    case SQLITE_FULL: return resource_exhausted(why);
    case SQLITE_PERM:
    case SQLITE_AUTH: return {status_code::permission_denied, why};
    case SQLITE_ERROR: return invalid_argument(why);
    default: return {status_code::unknown, why};
    }
  }

  // Clang 14 instantiates the following two templates only if they stand before the lambda that
  // calls them.
  template <class T>
  status append_integer(int i, int type, field_column& to) const {
    if (type != SQLITE_INTEGER)
      return wrong(i, type, dtype_of<T>);
    const int64_t x = sqlite3_column_int64(statement_, i);
    bool fits = false;
    if constexpr (std::is_same_v<T, bool>)
      fits = x == 0 || x == 1;
    else
      fits = std::in_range<T>(x);
    if (!fits)
      return invalid_argument(
        fmt::format("{} is out of the range of {}", x, to_string(dtype_of<T>)));
    to.append(static_cast<T>(x));
    return {};
  }

  template <class T>
  status append_float(int i, int type, field_column& to) const {
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
      return wrong(i, type, dtype_of<T>);
    const double x = sqlite3_column_double(statement_, i);
    const auto out =
      static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(x));
    if constexpr (sizeof(T) < 8)
      if (std::isfinite(x) && !std::isfinite(static_cast<float>(out)))
        return invalid_argument(
          fmt::format("{} is out of the range of {}", x, to_string(dtype_of<T>)));
    to.append(out);
    return {};
  }

  status append(int i, field_column& to) const {
    const auto type = sqlite3_column_type(statement_, i);
    const auto& format = columns_[static_cast<size_t>(i)];
    if (type == SQLITE_NULL) {
      if (!format.missing)
        return invalid_argument("it is null, and has nothing to stand in");
      to.append_row(*format.missing);
      return {};
    }
    if (format.spec.type == dtype::string) {
      // SQLite converts numbers to text, and text of UTF-16 databases to UTF-8.
      const auto* bytes = type == SQLITE_BLOB
                            ? static_cast<const char*>(sqlite3_column_blob(statement_, i))
                            : reinterpret_cast<const char*>(sqlite3_column_text(statement_, i));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, i));
      to.append(size == 0 ? std::string_view{} : std::string_view{bytes, size});
      return {};
    }
    return visit_plain(format.spec.type, [&]<class T>(T) -> status {
      if constexpr (std::is_integral_v<T>)
        return append_integer<T>(i, type, to);
      else if constexpr (is_complex(dtype_of<T>))
        return internal_error("complex numbers are refused when the dataset is made");
      else
        return append_float<T>(i, type, to);
    });
  }

  status wrong(int i, int type, dtype wanted) const {
    return invalid_argument(fmt::format(
      "{}{} is no {}", kind_of(type),
      type == SQLITE_BLOB
        ? std::string{}
        : fmt::format(" ({})", reinterpret_cast<const char*>(sqlite3_column_text(statement_, i))),
      to_string(wanted)));
  }

  std::string path_;
  const std::vector<field_format>& columns_;
  std::stop_token stop_;
  sqlite3* base_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

} // namespace

result<std::unique_ptr<sqlite_query>> sqlite_query::open(const std::string& path,
                                                         const std::string& query,
                                                         const std::vector<field_format>& columns,
                                                         std::stop_token stop) {
  auto out = std::make_unique<query_impl>(path, columns, std::move(stop));
  HEADRACE_TRY(out->start(query));
  return std::unique_ptr<sqlite_query>{std::move(out)};
}

} // namespace headrace::detail
