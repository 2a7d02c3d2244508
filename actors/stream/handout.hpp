#pragma once

#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace headrace::stream {

/// Where a consumer actor leaves rows for its trainer's thread, and can take back those that the
/// trainer has not taken.
///
/// The trainer takes a row with one compare-and-swap on the current block's {position, limit};
/// taking back lowers the limit. Blocks of several tasks are handed out in turn, `quantum` rows
/// each, so that no fast task hides the others. The trainer's side is for one thread at a time;
/// the actor's side may be called from any thread.
class handout {
public:
  struct options {
    /// Rows that one task gives before the next one's turn, when several have some.
    uint32_t quantum = 64;
  };
  /// Called, on the trainer's thread and without a lock, when the actor should look at `progress`:
  /// the trainer began to wait, or has taken as much of a stream as was asked for. Not called again
  /// until the actor has looked.
  using activity = std::function<void()>;

  explicit handout(activity on_activity) : handout(options{}, std::move(on_activity)) {}
  handout(options o, activity on_activity);
  handout(const handout&) = delete;
  handout& operator=(const handout&) = delete;
  ~handout();

  // -- the actor's side ---------------------------------------------------------

  struct counts {
    task_id task;
    uint64_t received = 0;   ///< rows pushed, less those taken back
    uint64_t handed_out = 0; ///< rows the trainer has
    uint64_t held_bytes = 0; ///< of the blocks that still have rows for the trainer
    uint64_t unhanded() const noexcept { return received - handed_out; }
  };
  struct snapshot {
    bool waiting = false; ///< the trainer is blocked in `advance`
    std::vector<counts> streams;
  };

  /// A stream that begins at zero. @pre `task` is not there
  void add(task_id task);
  /// @pre `task` is there; `rows` is not empty
  void push(task_id task, std::shared_ptr<const block> rows);
  /// Takes half of what is un-handed back, or all of it; always leaves one row to a waiting
  /// trainer. Afterwards `received` is the mark.
  counts take_back(task_id task, bool all);
  /// Takes everything un-handed back and forgets the stream.
  counts drop(task_id task);
  /// Forgets the stream; what it pushed is still handed out.
  void release(task_id task);
  /// How often `activity` is to be called: when that much of the stream was handed out since the
  /// last `progress`.
  void ask_for_news(task_id task, uint64_t rows, uint64_t bytes);
  snapshot progress();
  /// After what was pushed there is nothing more (ok), or an error.
  void finish(status why = {});
  /// Ends now: what was pushed is dropped. @pre `!why.ok()`
  void abort(status why);

  // -- the trainer's side -------------------------------------------------------

  /// Takes the next row of `current()`. False if it has none: call `advance`.
  bool try_row(uint32_t& row) noexcept {
    if (left_ == 0)
      return false;
    auto seen = cut_->load(std::memory_order_relaxed);
    do {
      if ((seen >> 32) >= (seen & 0xffffffffu)) {
        left_ = 0;
        return false;
      }
    } while (!cut_->compare_exchange_weak(seen, seen + one_row, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    --left_;
    row = static_cast<uint32_t>(seen >> 32);
    return true;
  }
  struct run {
    uint32_t first = 0;
    uint32_t rows = 0;
  };
  /// Takes up to `most` rows of `current()` at once; none if it has none.
  run try_rows(uint32_t most) noexcept;
  /// The block that `try_row` takes from; stays valid until `advance`, and longer if it is copied.
  const std::shared_ptr<const block>& current() const noexcept { return rows_; }
  /// Goes on to rows of another turn; blocks until there are some. False at the end. Errors: what
  /// `finish` or `abort` said; `cancelled` if `stop` was requested.
  result<bool> advance(std::stop_token stop);
  /// For who reads by block: `advance` makes whole blocks the turns.
  void read_by_block(bool yes) noexcept { by_block_ = yes; }

private:
  static constexpr uint64_t one_row = uint64_t{1} << 32;
  struct entry;
  struct queue;

  queue* next_turn();
  void retire_current();
  void clear_locked();

  const options options_;
  const activity on_activity_;

  // The trainer's own.
  uint32_t left_ = 0;
  std::atomic<uint64_t>* cut_ = nullptr;
  std::shared_ptr<const block> rows_;
  std::shared_ptr<entry> current_;
  bool by_block_ = false;

  // Shared, under the mutex (an entry's cut is atomic besides).
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::map<uint64_t, std::shared_ptr<queue>> queues_; ///< by order of arrival
  std::map<task_id, uint64_t> names_;
  uint64_t next_name_ = 1;
  uint64_t last_turn_ = 0;
  bool waiting_ = false;
  bool called_ = false; ///< activity was called and nobody has looked yet
  bool over_ = false;
  status why_;
};

} // namespace headrace::stream
