#pragma once

#include "headrace/pipeline/iterator/byte_budget.hpp"
#include "headrace/pipeline/iterator/call_gate.hpp"
#include "headrace/pipeline/iterator/growing_bound.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace headrace::detail {

/// Counts what comes, so that a reader can wait for the first of several.
class arrivals {
public:
  uint64_t count() const {
    std::lock_guard lock{mutex_};
    return count_;
  }
  void add() {
    std::lock_guard lock{mutex_};
    ++count_;
    changed_.notify_all();
  }
  /// Until there are more than `count`, or `stop` is requested.
  void wait(uint64_t count, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [&] { return count_ != count; });
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t count_ = 0;
};

/// Runs an iterator on a thread of its own, some rows ahead of the reader. The thread starts at the
/// first `next`. Ends early when `stop` is requested.
class read_ahead {
public:
  struct options {
    size_t rows = 1 << 16;           ///< most rows held
    size_t bytes = size_t{16} << 20; ///< most bytes held, unless one row is more
    size_t first_bytes = SIZE_MAX; ///< most bytes held at first; grows to `bytes` if that may help
    /// Bounds how many of those that share it run at a time; may be null.
    std::shared_ptr<call_gate> turns;
    /// Told when there are rows, or the end; may be null.
    std::shared_ptr<arrivals> tells = nullptr;
    /// What all that share it may hold; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    /// Shared by those whose rows are alike; may be null.
    std::shared_ptr<row_size> rows_are = nullptr;
  };

  read_ahead(std::unique_ptr<iterator> input, options bounds, std::stop_token stop)
    : input_(std::move(input)),
      options_(std::move(bounds)),
      bound_(options_.first_bytes, options_.bytes),
      stop_(std::move(stop)),
      share_(options_.budget, options_.rows_are, [this] {
        std::lock_guard lock{mutex_};
        changed_.notify_all();
      }) {}

  /// Starts the thread now.
  void start();
  /// As `iterator::next`; nullopt also when stopped.
  std::optional<block> next(const limits& wanted);
  /// The reader will wait for this one: `rows` rows may be read, whatever the budget says.
  void ask(size_t rows);
  /// Does `next` not wait?
  bool ready() const {
    std::lock_guard lock{mutex_};
    return !pieces_.empty() || ended_;
  }
  /// Blocks that `next` would not wait for.
  size_t blocks() const {
    std::lock_guard lock{mutex_};
    return pieces_.size();
  }
  /// Where to begin again after the rows that `next` gave. Never waits for the thread.
  resume_point point() const;
  /// Begins at a point. @pre neither `start` nor `next` was called
  status restore(position_reader& from) { return from.resume(*input_); }

private:
  struct piece {
    block rows;
    resume_point at; ///< of the first of them
    size_t counted;  ///< bytes in the budget
  };
  /// What may be read now.
  struct allowance {
    size_t rows = 0;  ///< 0: nothing
    size_t bytes = 0; ///< counted for them
  };
  void run(const std::stop_token& done);
  allowance allowed(size_t rows);
  bool room() const { return rows_ < options_.rows && (rows_ == 0 || bytes_ < bound_.now()); }

  std::unique_ptr<iterator> input_; ///< the thread's
  const options options_;
  growing_bound bound_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<piece> pieces_;
  position_ptr after_; ///< what is in `pieces_`; null before the thread started
  size_t rows_ = 0;
  size_t bytes_ = 0;
  size_t asked_ = 0; ///< rows that the reader waits for
  bool ended_ = false;
  budget_share share_;
  std::jthread thread_; ///< last: it ends before what it uses
};

} // namespace headrace::detail
