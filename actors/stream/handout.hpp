#pragma once

#include "headrace/actors/stream/round_order.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace headrace::detail {

/// The queue between a consumer and its trainer's thread. The consumer can take back rows that the
/// trainer has not taken.
///
/// The trainer takes a row with one atomic addition to {position, limit} of the current block; a
/// recall lowers the limit. Blocks of several tasks are handed out in turn. Members of the
/// consumer's side may be called from any thread, those of the trainer's side by one thread at a
/// time.
class handout {
public:
  /// `wake` is called on the trainer's thread, without a lock, when `look` should be called:
  /// the trainer has taken the last row of a block, has begun to wait, or has ceased to wait. It is
  /// called at most once between two calls of `look`, unless `postpones` returns true between them.
  /// It is called at the end of a block, not at the trainer's next call, as a trainer may pause
  /// while others wait for the rows that it holds.
  ///
  /// `now` is the clock for `trust_until`; if it is empty, `trust_until` has no effect.
  explicit handout(std::function<void()> wake, std::function<time_point()> now = {})
    : wake_(std::move(wake)), now_(std::move(now)) {}

  /// For a trainer that does not block: after `try_next` has returned `nothing_yet`, `came` is
  /// called when rows may be handed out, or the end has come. It is called on any thread, and must
  /// not call the consumer. This function must be called before the first `add`.
  void when_something_comes(std::function<void()> came) { came_ = std::move(came); }

  // -- the consumer's side -----------------------------------------------------------

  /// Adds rows of a task, to be handed out after its earlier rows. `claimed`: see `confirm`; zero:
  /// no limit is set, so all of them may be handed out, unless an earlier call has set a limit.
  void add(task_id from, block rows, uint64_t claimed = 0);
  /// Elements of that task's stream below `claimed`, as far as they have been added, may be handed
  /// out; later ones need a further call.
  void confirm(task_id from, uint64_t claimed);
  /// The rows of that task can no longer go to another reader: all of them may be handed out
  /// without a claim.
  void own(task_id from);
  /// Takes back the rows of that task that are not handed out, except the next `keep`; a waiting
  /// trainer always keeps one row. Returns the mark: the elements below it stay here.
  uint64_t recall(task_id from, uint64_t keep);
  /// Takes back all rows of that task that are not handed out, even if the trainer waits. Returns
  /// the mark.
  uint64_t recall_all(task_id from);
  /// Stops handing out rows of that task until `release`; the rows stay in the queue.
  void hold(task_id from);
  void release(task_id from);
  /// Hands out nothing after the time `when`, which replaces that of an earlier call. While this
  /// process is stopped, the job may let other readers have its rows. When the process runs again,
  /// its trainer must not be handed these rows, too.
  void trust_until(time_point when);
  /// Drops the rows of that task that are not handed out, and its marks. @pre no more of its rows
  /// will be added
  void erase(task_id from);

  // In coordinated reads the next block comes from the task that serves the next round.

  /// Hands out rows in the order of the rounds. To be called before the first `add`.
  void take_in_rounds() { rounds_.emplace(); }
  /// As in `round_order`. @pre `take_in_rounds` was called
  void begin_epoch(round_epoch next);
  void received_by_all(task_id task, uint64_t epoch, uint64_t groups);
  void freeze_rounds();
  /// The first row that is added for this task will have that element number in its stream. @pre no
  /// row of the task was added
  void begin_at(task_id from, uint64_t elements);
  struct round_marks {
    uint64_t epoch = 0;
    uint64_t round = 0; ///< the round that the trainer is handed next
  };
  round_marks rounds();
  /// True if the task serves rounds of the present epoch or of a later one.
  bool serves_rounds(task_id task);

  /// Nothing more will be added. `how` is not ok if an error ended the repetition. Only the first
  /// call has an effect. `remark`: a message to the trainer about its elements, or empty.
  /// `empty`: the repetition gave no element to any reader.
  void finish(status how, std::string remark = {}, bool empty = false);
  /// Passes the trainer a message, to be shown at once. A newer message replaces it.
  void remark(std::string what);

  /// Counts of one task's stream, in elements unless named otherwise.
  struct marks {
    uint64_t received = 0;    ///< without the rows that were recalled
    uint64_t handed_out = 0;  ///< `<= received`
    size_t bytes = 0;         ///< bytes of queued blocks; in `look`, also of the block in use
    uint64_t taken_bytes = 0; ///< total bytes of the blocks that the trainer has used up
    /// Set by `look` only: a recall left one element because the trainer was waiting, and the
    /// trainer has ceased to wait since the last `look`. So the element can be given back now.
    bool spare = false;
    /// The number of elements that may be handed out, `<= received`.
    uint64_t confirmed = 0;
    /// Set by `look` only: since the last `look`, the trainer has requested an element while the
    /// queue had elements, but none that could be handed out.
    bool held_up = false;
    /// The number of elements in use: the trainer was handed them with its last call, and has not
    /// requested another one since.
    uint64_t in_use = 0;
    uint64_t in_use_bytes = 0; ///< about the size of the elements in use
  };
  marks of(task_id from);
  /// The totals since the queue was made.
  struct pace {
    duration elapsed{};    ///< the time
    duration waited{};     ///< the part of that time in which the trainer waited for rows
    uint64_t elements = 0; ///< the number of elements that the trainer was handed
    uint64_t bytes = 0;    ///< the bytes of the blocks that the trainer has used up
  };
  pace paced();
  /// True if the trainer is blocked in `next` and there are no rows for it.
  bool waiting();
  /// The marks of all tasks, and whether the trainer waits. The next `wake` is called only after
  /// the trainer has used up `quiet` more bytes, even if it begins to wait before that.
  std::map<task_id, marks> look(bool& waiting, uint64_t quiet = 0);
  /// Returns true if the trainer does not wait, its block is smaller than `small_block` bytes, and
  /// `wake` is called for each block. `look` may then be called a little later, and `wake` is
  /// called again at the end of the next block or when the trainer begins to wait.
  bool postpones();
  static constexpr size_t small_block = size_t{32} << 10; ///< in bytes

  // -- the trainer's side ---------------------------------------------------------

  /// Returns the next block, none of whose rows is handed out yet: the trainer takes each row with
  /// `claim`. Blocks until there is a block. Returns nullptr at the end, on an error and on `stop`;
  /// `how` has the status. An error of `finish` is returned once, and then the end.
  std::shared_ptr<const block> next(std::stop_token stop, status& how);
  enum class outcome { rows, nothing_yet, over };
  /// As `next`, but does not block. After `nothing_yet` the trainer counts as waiting.
  outcome try_next(std::shared_ptr<const block>& rows, status& how);
  /// As `next`, but blocks no longer than `limit`, and then returns `nothing_yet`; the trainer
  /// counts as waiting until its next call. On `stop` it returns `over`, with the status in `how`.
  outcome next_within(duration limit, const std::stop_token& stop,
                      std::shared_ptr<const block>& rows, status& how);
  /// Returns the remark of `finish` once, at the end; before and after that, an empty text.
  std::string take_remark();
  /// True if `remark` was called since the last `take_news`.
  bool has_news() const noexcept { return has_news_.load(std::memory_order_relaxed); }
  std::string take_news();
  /// True if the repetition has ended and gave no element to any reader.
  bool was_empty();
  /// Hands out the next row of the block that `next` returned last. Negative if no row is left, or
  /// if the time of `trust_until` is over: then `next` must be called.
  int64_t claim() noexcept {
    if (expired())
      return -1;
    // A call after the last row moves the position beyond the limit; all code that reads the
    // position allows for that.
    const auto seen = cut_.fetch_add(1);
    const auto row = static_cast<uint32_t>(seen);
    const auto limit = seen >> 32;
    if (row + uint64_t{1} == limit)
      through();
    return row < limit ? static_cast<int64_t>(row) : -1;
  }
  /// True if `claim` would return a row now.
  bool has_row() const noexcept {
    const auto cut = cut_.load();
    return position_of(cut) < limit_of(cut) && !expired();
  }
  /// Hands out up to `rows` rows at once, and returns their range [first, last).
  std::pair<size_t, size_t> claim_up_to(size_t rows) noexcept;

private:
  struct queue {
    std::deque<block> blocks;    ///< after the current block
    uint64_t received = 0;       ///< without the rows that were recalled
    uint64_t before_current = 0; ///< rows of earlier blocks that were handed out
    size_t waiting_bytes = 0;    ///< the bytes of `blocks`
    uint64_t taken_bytes = 0;    ///< total
    /// True between `hold` and `release`: no rows of the queue are handed out.
    bool held = false;
    bool kept_for_waiting = false; ///< see `marks::spare`
    bool held_up = false;          ///< see `marks::held_up`
    /// True: since the last confirmation, the confirmed rows were divided into two parts and the
    /// first part was handed out; the rest is not divided again.
    bool parted = false;
    /// The number of elements that may be handed out; unset: all may be.
    std::optional<uint64_t> confirmed;
  };
  /// The number of rows after the current block that may be handed out.
  uint64_t room(task_id from, const queue& q) const;
  bool ready(task_id from, const queue& q) const {
    return !q.held && !q.blocks.empty() && room(from, q) != 0;
  }
  uint64_t confirmed_of(const queue& q) const { return q.confirmed.value_or(q.received); }
  bool expired() const noexcept {
    const auto until = trusted_.load(std::memory_order_relaxed);
    return until != for_ever && now_ && now_() > time_point{duration{until}};
  }
  // `cut_` has the limit in its upper half and the position in its lower half.
  static constexpr uint64_t packed(uint64_t position, uint64_t limit) {
    return limit << 32 | position;
  }
  static constexpr uint64_t limit_of(uint64_t cut) { return cut >> 32; }
  static constexpr uint64_t position_of(uint64_t cut) {
    return std::min<uint64_t>(static_cast<uint32_t>(cut), limit_of(cut));
  }
  /// True if the trainer has asked for a row after the last one.
  static constexpr bool asked_for_more(uint64_t cut) {
    return static_cast<uint32_t>(cut) > limit_of(cut);
  }
  void put_current_back();
  bool something_ready() const;
  bool starves() const;
  uint64_t cut_back(task_id from, queue& q, uint64_t keep);
  void settle_current();
  static void extend(queue& q, uint64_t claimed);
  std::shared_ptr<const block> take_turn();
  std::shared_ptr<const block> take_round();
  std::shared_ptr<const block> make_current(task_id from, queue& q, uint64_t most);
  /// The number of rows of the current block that are in use. `cut`: a value of `cut_`.
  uint64_t in_use_of(uint64_t cut) const;
  void note_in_use(task_id from, uint64_t cut, marks& of) const;
  void tell_if_ready(std::unique_lock<std::mutex>& lock);
  outcome take_locked(std::shared_ptr<const block>& rows, status& how);
  /// Called when the last row of a block was taken.
  void through() {
    if (each_block_.load(std::memory_order_relaxed))
      tell();
  }
  void tell();

  void tell_of_arrival(bool waited);

  static constexpr int64_t for_ever = std::numeric_limits<int64_t>::max();
  const std::function<void()> wake_;
  const std::function<time_point()> now_;
  std::atomic<int64_t> trusted_{for_ever};
  std::function<void()> came_; ///< empty: the trainer blocks
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<task_id, queue> queues_;
  task_id current_from_; ///< the task of the current block; zero: none
  std::shared_ptr<const block> current_;
  size_t current_bytes_ = 0;
  std::atomic<uint64_t> cut_{0}; ///< the limit and the position in the current block
  /// The number of rows that the last call of `claim_up_to` took of the current block, if it took
  /// any; else 1.
  std::atomic<uint64_t> last_claim_{1};
  void note_waiting(bool waits);

  bool waiting_ = false;
  const time_point began_ = clock::system().now();
  time_point waiting_since_;  ///< meaningful only if `waiting_`
  pace pace_;                 ///< without `elapsed`, the current wait and the current block
  uint64_t unseen_bytes_ = 0; ///< bytes that were taken since the last `look`
  uint64_t quiet_bytes_ = 0;
  std::atomic<bool> each_block_{true}; ///< true if `quiet_bytes_` is 0
  std::optional<round_order> rounds_;  ///< in coordinated reads
  std::optional<status> end_;
  std::string remark_;
  std::string news_;
  std::atomic<bool> has_news_{false};
  bool empty_ = false;
  std::atomic<bool> told_{false}; ///< `wake` was called, and `look` was not called since
};

} // namespace headrace::detail
