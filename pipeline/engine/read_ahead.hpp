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

/// Counts arrivals of rows, so that a thread can wait for the first of several inputs.
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
  /// Blocks until there are more than `count` arrivals, or `stop` is requested.
  void wait(uint64_t count, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [&] { return count_ != count; });
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t count_ = 0;
};

/// Runs an iterator on a thread of its own, some rows ahead of the reader, which is the thread that
/// calls `next`. The iterator's thread starts at the first `next`, unless `start` was called.
/// `next` does not wait once `stop` is requested.
class read_ahead {
public:
  struct options {
    size_t rows = 1 << 16; ///< the most rows that are held
    /// No further block is read while this many bytes are held.
    size_t bytes = size_t{16} << 20;
    /// The bound that applies at first in place of `bytes`. It grows up to `bytes` while more room
    /// may raise the rate (see `growing_bound`).
    size_t first_bytes = SIZE_MAX;
    /// Limits how many of the objects that share this gate read at a time; may be null.
    std::shared_ptr<call_gate> turns;
    /// Counts the arrivals of rows and of the end; may be null.
    std::shared_ptr<arrivals> tells = nullptr;
    /// The budget of all objects that share it; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    /// The estimated row size, which objects with similar rows share; may be null.
    std::shared_ptr<row_size> rows_are = nullptr;
    /// The counters of the operator; may be null. They count the time in which the budget allowed
    /// no rows, and the time in the `next` of the input.
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

  /// Starts the thread before the first `next`.
  void start();
  /// As `iterator::next`; nullopt also when stopped.
  std::optional<block> next(const limits& wanted);
  /// Allows the thread to read `rows` rows even if the budget has no room, because the reader is
  /// about to wait for them.
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
  /// The point at which to continue after the rows that `next` returned. Never waits for the
  /// thread.
  resume_point point() const;
  /// Continues at a point. @pre neither `start` nor `next` was called
  status restore(position_reader& from) { return from.resume(*input_); }

private:
  struct piece {
    block rows;
    resume_point at; ///< the point before the first row
    size_t counted;  ///< the bytes that are counted in the budget
  };
  /// The amount that may be read now.
  struct allowance {
    size_t rows = 0;  ///< 0: no rows
    size_t bytes = 0; ///< the bytes that are counted for the rows
  };
  void run(const std::stop_token& done);
  allowance allowed(size_t rows);
  /// Counts the time in which the budget allows no rows.
  void note_memory(bool held_back);
  bool room() const { return rows_ < options_.rows && (rows_ == 0 || bytes_ < bound_.now()); }

  std::unique_ptr<iterator> input_; ///< used only by the thread once the thread was started
  const options options_;
  growing_bound bound_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<piece> pieces_;
  /// The position after the rows in `pieces_`; null before the thread was started.
  position_ptr after_;
  size_t rows_ = 0;
  size_t bytes_ = 0;
  size_t asked_ = 0; ///< the number of rows for which the reader waits
  bool ended_ = false;
  /// The time since which the budget allows no rows; used by the thread only.
  std::optional<time_point> held_back_since_;
  budget_share share_;
  /// The last member, so that the thread ends before the other members, which the thread uses, are
  /// destroyed.
  std::jthread thread_;
};

} // namespace headrace::detail
