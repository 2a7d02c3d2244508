#pragma once

#include "headrace/runtime/journal/commit_pace.hpp"
#include "headrace/runtime/journal/disk_reserve.hpp"
#include "headrace/runtime/journal/journal_file.hpp"
#include "headrace/runtime/journal/journal_lock.hpp"
#include "headrace/runtime/journal/journal_metrics.hpp"
#include "headrace/runtime/journal/sqlite_journal.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::detail {

/// Commits queued changes, on the thread that calls `run`: changes that were queued during a commit
/// share the next one, up to a number and a size. Thread-safe.
class journal_writer {
public:
  journal_writer(sqlite_journal_options options, std::optional<journal_lock> lock,
                 disk_reserve reserve, std::unique_ptr<journal_file> file);
  journal_writer(const journal_writer&) = delete;
  journal_writer& operator=(const journal_writer&) = delete;

  /// Runs until `end` is called. When it returns, the directory is not locked any more.
  void run();
  /// `then` is called for an `append` only.
  void put(journal_change change, journal::done then = nullptr);
  /// Waits for a bounded time until the queued changes are written. Calls the callbacks of changes
  /// that are not written by then with `aborted`. No callback is called afterwards. False: the
  /// thread is blocked in a system call and did not return in time.
  bool end();

private:
  // To be called with the mutex held.
  bool wait_for_work(std::unique_lock<std::mutex>& hold);
  std::optional<time_point> next_work() const;
  void fetch();

  // Functions that write, and that handle the outcome of a write. To be called on the thread of
  // `run`, without the mutex.
  void work();
  template <class Attempt>
  journal_failure with_reserve(const Attempt& attempt);
  void count(duration took);
  void acknowledge();
  void judge(const journal_failure& failure);
  void report(const status& health);
  status in_reserve() const;
  status stuck(const journal_failure& failure) const;

  const sqlite_journal_options options_;
  journal_metrics metrics_;
  std::optional<journal_lock> lock_;
  disk_reserve reserve_;
  std::unique_ptr<journal_file> file_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<journal_change> queue_;
  std::deque<journal::done> waiting_;  ///< the callbacks of all appends that are not kept yet
  std::optional<time_point> deadline_; ///< set by `end`
  bool ended_ = false;

  // The following members, up to `health_`, are used by the thread of `run` only.
  /// Changes that are being written, or are to be written again.
  std::vector<journal_change> batch_;
  commit_pace pace_;
  backoff pauses_;
  bool unwell_ = false;
  time_point tried_{}, next_try_{}; ///< the last attempt to write, and the next one if `unwell_`
  status health_;

  /// Held during callbacks, so that `end` waits for a running callback.
  std::mutex calling_;
  bool silent_ = false;
};

} // namespace headrace::detail
