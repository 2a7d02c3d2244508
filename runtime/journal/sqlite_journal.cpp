#include "headrace/runtime/journal/sqlite_journal.hpp"

#include "headrace/runtime/base/file_error.hpp"
#include "headrace/runtime/journal/journal_writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {

namespace fs = std::filesystem;

/// SQLite accepts rows of almost twice this size, 10^9 bytes.
constexpr size_t largest_record = size_t{512} << 20;

class sqlite_journal final : public journal {
public:
  sqlite_journal(std::shared_ptr<journal_writer> writer, journal_contents found)
    : writer_(std::move(writer)),
      ledger_(std::move(found.ledger)),
      found_(std::move(found.streams)),
      thread_([writer = writer_] { writer->run(); }) {}
  ~sqlite_journal() override {
    if (writer_->end())
      thread_.join();
    else // the thread is blocked in a system call; it is an owner of the writer
      thread_.detach();
  }
  sqlite_journal(const sqlite_journal&) = delete;
  sqlite_journal& operator=(const sqlite_journal&) = delete;

  void append(uint64_t stream, buffer record, done then) override {
    if (record.size() > largest_record) {
      if (then)
        then(invalid_argument(fmt::format("a record of {} bytes for stream {} is too large for a "
                                          "journal: {} bytes are the most",
                                          record.size(), stream, largest_record)));
      return;
    }
    std::lock_guard hold{mutex_};
    found_.erase(stream);
    writer_->put(ledger_.append(stream, std::move(record)), std::move(then));
  }

  void settle(uint64_t stream, buffer state) override {
    if (state.size() > largest_record)
      return;
    std::lock_guard hold{mutex_};
    found_.erase(stream);
    writer_->put(ledger_.settle(stream, std::move(state)));
  }

  void drop(uint64_t stream) override {
    std::lock_guard hold{mutex_};
    found_.erase(stream);
    if (ledger_.contains(stream))
      writer_->put(ledger_.drop(stream));
  }

  result<kept> recover(uint64_t stream) override {
    std::lock_guard hold{mutex_};
    if (auto found = found_.extract(stream); !found.empty())
      return std::move(found.mapped());
    if (ledger_.contains(stream))
      return failed_precondition(
        fmt::format("stream {} was recovered, or written, before", stream));
    return kept{};
  }

  std::vector<uint64_t> streams() override {
    std::lock_guard hold{mutex_};
    return ledger_.streams();
  }

private:
  const std::shared_ptr<journal_writer> writer_;
  /// Held while a change is numbered and queued, so that the queue is in the order of the numbers.
  std::mutex mutex_;
  journal_ledger ledger_;
  /// The content at the opening of the journal, without streams that were recovered or written
  /// since.
  std::unordered_map<uint64_t, kept> found_;
  std::thread thread_;
};

/// Makes the names of the files in a directory durable.
void sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

status make_directory(const std::string& path) {
  // The journal contains data that pipelines capture, so only its user may read it.
  constexpr mode_t its_user = 0700;
  if (::mkdir(path.c_str(), its_user) == 0) {
    sync_directory(fs::path{path}.parent_path().string());
    return {};
  }
  if (errno != EEXIST || !fs::is_directory(path))
    return file_error(path, "make the directory", errno == EEXIST ? ENOTDIR : errno);
  return {};
}

} // namespace

result<std::unique_ptr<journal>> open_sqlite_journal(sqlite_journal_options options) {
  std::error_code failed;
  auto directory = fs::absolute(options.directory, failed).lexically_normal();
  if (!directory.has_filename()) // the path ends with a slash
    directory = directory.parent_path();
  options.directory = directory.string();
  HEADRACE_TRY(make_directory(options.directory));
  HEADRACE_ASSIGN(auto lock, journal_lock::take(options.directory));
  HEADRACE_ASSIGN(auto reserve,
                  disk_reserve::open(options.directory + "/reserve", options.reserve_bytes));
  HEADRACE_ASSIGN(auto file,
                  journal_file::open(options.directory + "/journal.sqlite", options.vfs));
  HEADRACE_ASSIGN(auto found, file->read());
  sync_directory(options.directory);
  auto writer = std::make_shared<journal_writer>(std::move(options), std::move(lock),
                                                 std::move(reserve), std::move(file));
  return std::unique_ptr<journal>{
    std::make_unique<sqlite_journal>(std::move(writer), std::move(found))};
}

} // namespace headrace::detail
