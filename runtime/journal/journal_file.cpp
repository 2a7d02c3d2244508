#include "headrace/runtime/journal/journal_file.hpp"

#include "headrace/runtime/journal/journal_reader.hpp"
#include "headrace/runtime/journal/log_damage.hpp"

#include <array>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <utility>

namespace headrace::detail {

namespace {

/// Identifies the file to which a name refers.
struct file_identity {
  dev_t device = 0;
  ino_t number = 0;

  static file_identity of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? file_identity{info.st_dev, info.st_ino}
                                            : file_identity{};
  }
  friend bool operator==(const file_identity&, const file_identity&) = default;
};

// locking_mode: no other process opens the file, so SQLite keeps the index of the log in its own
// memory. synchronous: the log is synced with each commit. EXTRA, instead of FULL, also makes the
// deletion of the rollback journal durable with which the file is created: it must not reappear
// after a crash. journal_size_limit: the log begins anew when its pages were copied into the file;
// a log that is larger than the limit, because of a large commit, is truncated then.
// secure_delete: deleted content need not be overwritten.
constexpr auto settings = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = EXTRA;"
                          "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 16777216;"
                          "PRAGMA secure_delete = OFF; PRAGMA cell_size_check = ON;"
                          "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;";

class journal_file_impl final : public journal_file {
public:
  journal_file_impl(sqlite_connection file, bool in_file_system)
    : file_(std::move(file)), in_file_system_(in_file_system) {}

  status start(std::span<const char* const> steps) {
    HEADRACE_TRY(file_.run(settings));
    HEADRACE_TRY(file_.number("SELECT count(*) FROM sqlite_schema").status());
    // The file and its log are checked before anything is written.
    HEADRACE_TRY(check_log());
    HEADRACE_TRY(check_pages());
    HEADRACE_TRY(bring_up_to_date(file_, steps));
    HEADRACE_ASSIGN(append_, file_.prepare("REPLACE INTO record VALUES (?, ?, ?, ?)"));
    HEADRACE_ASSIGN(clear_, file_.prepare("DELETE FROM record WHERE stream = ?"));
    HEADRACE_ASSIGN(settle_, file_.prepare("REPLACE INTO state VALUES (?, ?, ?, ?)"));
    HEADRACE_ASSIGN(drop_, file_.prepare("DELETE FROM state WHERE stream = ?"));
    HEADRACE_ASSIGN(total_, file_.prepare("UPDATE total SET rows = ?, crcs = ? WHERE id = 0"));
    HEADRACE_ASSIGN(begin_, file_.prepare("BEGIN IMMEDIATE"));
    HEADRACE_ASSIGN(commit_, file_.prepare("COMMIT"));
    HEADRACE_ASSIGN(rollback_, file_.prepare("ROLLBACK"));
    sqlite3_wal_hook(
      file_.get(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<journal_file_impl*>(self)->log_pages_ = pages;
        return SQLITE_OK;
      },
      this);
    HEADRACE_ASSIGN(const auto schema, file_.number("PRAGMA schema_version"));
    (void)schema; // its value is not used; reading it opens the log
    identities_ = found_identities();
    return {};
  }

  result<journal_contents> read() override { return read_journal(file_); }

  journal_failure write(std::span<const journal_change> changes) override {
    if (changes.empty())
      return {};
    if (found_identities() != identities_)
      return {unavailable(fmt::format("'{}', or its log '{}', is not the file any more that was "
                                      "opened: put it back",
                                      file_.path(), log_path()))};
    int outcome = begin_.run();
    for (const auto& x : changes) {
      if (outcome != SQLITE_OK)
        break;
      outcome = write(x);
    }
    if (outcome == SQLITE_OK)
      outcome = total_.run(changes.back().total.rows, changes.back().total.crcs);
    if (outcome == SQLITE_OK)
      outcome = commit_.run();
    if (outcome == SQLITE_OK)
      return {};
    journal_failure out{file_.failure("write"), file_.full()};
    if (sqlite3_get_autocommit(file_.get()) == 0)
      rollback_.run();
    return out;
  }

  int log_pages() const override { return log_pages_; }

  journal_failure checkpoint() override {
    if (sqlite3_wal_checkpoint_v2(file_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr)
        != SQLITE_OK)
      return {file_.failure("write"), file_.full()};
    log_pages_ = 0;
    return {};
  }

private:
  int write(const journal_change& x) {
    int out = SQLITE_OK;
    switch (x.what) {
    case journal_change::kind::append:
      return append_.run(x.stream, x.number, uint64_t{x.crc}, x.bytes);
    case journal_change::kind::settle:
      out = clear_.run(x.stream);
      return out == SQLITE_OK ? settle_.run(x.stream, x.number, uint64_t{x.crc}, x.bytes) : out;
    case journal_change::kind::drop:
      out = clear_.run(x.stream);
      return out == SQLITE_OK ? drop_.run(x.stream) : out;
    }
    return SQLITE_MISUSE;
  }

  status check_log() {
    HEADRACE_ASSIGN(const auto mode, file_.text("PRAGMA journal_mode"));
    auto* log = file_.journal();
    if (mode != "wal" || !log)
      return {};
    sqlite3_int64 size = 0;
    if (log->pMethods->xFileSize(log, &size) != SQLITE_OK)
      return unavailable(fmt::format("cannot read '{}'", log_path()));
    const auto damage = damage_in_log(
      [log](uint64_t offset, std::span<std::byte> to) {
        return log->pMethods->xRead(log, to.data(), static_cast<int>(to.size()),
                                    static_cast<sqlite3_int64>(offset))
               == SQLITE_OK;
      },
      static_cast<uint64_t>(size));
    return damage ? damaged_journal(log_path(), *damage) : status{};
  }

  /// Checks the structure of the file: if its list of free pages is damaged, pages in use would be
  /// overwritten.
  status check_pages() {
    HEADRACE_ASSIGN(const auto found, file_.text("PRAGMA quick_check(1)"));
    return found == "ok" ? status{} : damaged_journal(file_.path(), found);
  }

  std::string log_path() const { return file_.path() + "-wal"; }
  std::array<file_identity, 2> found_identities() const {
    if (!in_file_system_)
      return {};
    return {file_identity::of(file_.path()), file_identity::of(log_path())};
  }

  sqlite_connection file_;
  sqlite_statement append_, clear_, settle_, drop_, total_, begin_, commit_, rollback_;
  bool in_file_system_;
  std::array<file_identity, 2> identities_;
  int log_pages_ = 0;
};

/// Fails if the file is missing or empty although its log has content, because SQLite would drop
/// that log.
status check_presence(const std::string& path, const std::string& vfs) {
  auto* system = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  if (!system)
    return invalid_argument(fmt::format("SQLite has no vfs '{}'", vfs));
  int base = 0, log = 0; // 1 if the file exists and is not empty
  system->xAccess(system, path.c_str(), SQLITE_ACCESS_EXISTS, &base);
  system->xAccess(system, (path + "-wal").c_str(), SQLITE_ACCESS_EXISTS, &log);
  if (base == 0 && log != 0)
    return damaged_journal(path, "it is missing or empty, and its log is not");
  return {};
}

} // namespace

result<std::unique_ptr<journal_file>> journal_file::open(const std::string& path,
                                                         const std::string& vfs,
                                                         std::span<const char* const> steps) {
  HEADRACE_TRY(check_presence(path, vfs));
  HEADRACE_ASSIGN(auto file, sqlite_connection::open(path, vfs));
  auto out = std::make_unique<journal_file_impl>(std::move(file), vfs.empty());
  HEADRACE_TRY(out->start(steps));
  return std::unique_ptr<journal_file>{std::move(out)};
}

} // namespace headrace::detail
