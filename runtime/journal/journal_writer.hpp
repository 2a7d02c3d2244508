#pragma once

#include "headrace/runtime/journal/commit_pace.hpp"
#include "headrace/runtime/journal/disk_reserve.hpp"
#include "headrace/runtime/journal/journal_file.hpp"
#include "headrace/runtime/journal/journal_lock.hpp"
#include "headrace/runtime/journal/sqlite_journal.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::detail {

/// Commits what is queued, on a thread that runs `run`: everything that came while a commit was
/// under way goes into the next one. Thread-safe.
class journal_writer {
public:
  journal_writer(sqlite_journal_options options, std::optional<journal_lock> lock,
                 disk_reserve reserve, std::unique_ptr<journal_file> file);
  journal_writer(const journal_writer&) = delete;
  journal_writer& operator=(const journal_writer&) = delete;

  /// Until `end`, after which the directory is free.
  void run();
  /// `then` is called for an `append` only.
  void put(journal_change change, journal::done then = nullptr);
  /// Has what is queued written, for a bounded time, and aborts the rest. Nobody is called any more
  /// afterwards. False: the thread hangs in the system and did not come back in time.
  bool end();

private:
  // Under the mutex.
  bool wait_for_work(std::unique_lock<std::mutex>& hold);
  std::optional<time_point> next_work() const;
  void fetch();

  // On the disk, without it.
  void work();
  template <class Attempt>
  write_failure with_reserve(const Attempt& attempt);
  void acknowledge();
  void judge(const write_failure& failure);
  void report(const status& health);
  status in_reserve() const;
  status stuck(const write_failure& failure) const;

  const sqlite_journal_options options_;
  std::optional<journal_lock> lock_;
  disk_reserve reserve_;
  std::unique_ptr<journal_file> file_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<journal_change> queue_;
  std::deque<journal::done> waiting_;  ///< for all that was appended and is not kept yet
  std::optional<time_point> deadline_; ///< of the end
  bool ended_ = false;

  // Of the thread.
  std::vector<journal_change> batch_; ///< under way, or to be tried again
  commit_pace pace_;
  backoff pauses_;
  bool unwell_ = false;
  time_point tried_{}, next_try_{}; ///< of a disk that is not well
  status health_;

  /// Held while others' code is called.
  std::mutex calling_;
  bool silent_ = false;
};

} // namespace headrace::detail
