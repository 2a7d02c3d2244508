#pragma once

#include "headrace/pipeline/engine/byte_budget.hpp"
#include "headrace/pipeline/engine/call_gate.hpp"
#include "headrace/pipeline/engine/growing_bound.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace headrace::detail {

/// Counts arrivals, so that a reader can wait for the first of several sources.
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
  /// Blocks until there are more than `count`, or `stop` is requested.
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
    size_t rows = 1 << 16;           ///< the most rows held
    size_t bytes = size_t{16} << 20; ///< the most bytes held, unless a single row is larger
    /// The most bytes held at first; it grows to `bytes` if that may help.
    size_t first_bytes = SIZE_MAX;
    /// Bounds how many of those that share it run at a time; may be null.
    std::shared_ptr<call_gate> turns;
    /// Is informed of rows and of the end; may be null.
    std::shared_ptr<arrivals> tells = nullptr;
    /// The budget of all that share it; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    /// Shared by objects whose rows are alike; may be null.
    std::shared_ptr<row_size> rows_are = nullptr;
    /// Those of its operator, to which the time is added in which the budget allowed no rows; may
    /// be null.
    op_counters* counters = nullptr;
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
  /// The reader will wait: `rows` rows may be read, even if the budget has no room.
  void ask(size_t rows);
  /// True if `next` would not block.
  bool ready() const {
    std::lock_guard lock{mutex_};
    return !pieces_.empty() || ended_;
  }
  /// The number of blocks that `next` would return without blocking.
  size_t blocks() const {
    std::lock_guard lock{mutex_};
    return pieces_.size();
  }
  /// Where to continue after the rows that `next` returned. Never waits for the thread.
  resume_point point() const;
  /// Continues at a point. @pre neither `start` nor `next` was called
  status restore(position_reader& from) { return from.resume(*input_); }

private:
  struct piece {
    block rows;
    resume_point at; ///< of the first row
    size_t counted;  ///< bytes counted in the budget
  };
  /// How much may be read now.
  struct allowance {
    size_t rows = 0;  ///< 0: nothing
    size_t bytes = 0; ///< bytes counted for the rows
  };
  void run(const std::stop_token& done);
  allowance allowed(size_t rows);
  /// Counts the time in which the budget allows nothing.
  void note_memory(bool held_back);
  bool room() const { return rows_ < options_.rows && (rows_ == 0 || bytes_ < bound_.now()); }

  std::unique_ptr<iterator> input_; ///< used by the thread only
  const options options_;
  growing_bound bound_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<piece> pieces_;
  position_ptr after_; ///< after the rows in `pieces_`; null before the thread started
  size_t rows_ = 0;
  size_t bytes_ = 0;
  size_t asked_ = 0; ///< rows that the reader waits for
  bool ended_ = false;
  std::optional<time_point> held_back_since_; ///< by the budget; used by the thread only
  budget_share share_;
  std::jthread thread_; ///< last: it ends before what it uses
};

} // namespace headrace::detail
