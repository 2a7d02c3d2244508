#pragma once

#include "headrace/actors/stream/round_order.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"

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

namespace headrace {

/// Where a consumer actor leaves rows for its trainer's thread, and can take back those that the
/// trainer has not taken.
///
/// The trainer takes a row with one atomic addition to {position, limit} of the block it is at; a
/// recall lowers the limit. Blocks of several tasks are handed out in turn. The actor's side may be
/// called from any thread, the trainer's side from one at a time.
class handout {
public:
  /// `wake`: called on the trainer's thread, without a lock, when the marks are worth a look: it
  /// took the last row of a block, waits, or waits no more (see `look`). Once until `look`. Not
  /// only with the next block: a trainer may not come back for long, and others wait for what it
  /// holds. `now`: the clock of `trust_until`; without one there is no such bound.
  explicit handout(std::function<void()> wake, std::function<time_point()> now = {})
    : wake_(std::move(wake)), now_(std::move(now)) {}

  /// For a trainer that does not block: `came` is called on the actor's side, without a lock, when
  /// there is something for it after `try_next` had nothing. To be set before anything is added.
  void when_something_comes(std::function<void()> came) { came_ = std::move(came); }

  // -- the actor's side -----------------------------------------------------------

  /// Rows of a task, to be handed out after those that came before. `claimed`: as `confirm`; zero:
  /// all of them may be handed out.
  void add(task_id from, block rows, uint64_t claimed = 0);
  /// Of that task's stream no more may be handed out than is there by now up to this element,
  /// before more is confirmed.
  void confirm(task_id from, uint64_t claimed);
  /// What is there of that task is nobody else's: all of it may be handed out.
  void own(task_id from);
  /// Takes back what of that task is not handed out, but for the next `keep` elements; a waiting
  /// trainer keeps one in any case. Returns the mark: elements of the stream up to it stay here.
  uint64_t recall(task_id from, uint64_t keep);
  /// Takes back all of that task that is not handed out, even if the trainer waits. Returns the
  /// mark.
  uint64_t recall_all(task_id from);
  /// Hands out nothing more of that task, until `release`; what is there stays.
  void hold(task_id from);
  void release(task_id from);
  /// Hands out nothing after that time, until a later one is said: a process that was stopped may
  /// run on when its rows are others' already.
  void trust_until(time_point when);
  /// Drops what of that task is not handed out, and its marks. @pre nothing of it is added any more
  void erase(task_id from);

  // Coordinated reads. Blocks come from the task whose round it is, not in turn.

  /// To be called before anything is added.
  void take_in_rounds() { rounds_.emplace(); }
  /// As round_order has them. @pre take_in_rounds
  void begin_epoch(round_epoch next);
  void received_by_all(task_id task, uint64_t epoch, uint64_t groups);
  void freeze_rounds();
  /// The task's stream begins behind so many of its elements. @pre nothing of it came
  void begin_at(task_id from, uint64_t elements);
  struct round_marks {
    uint64_t epoch = 0;
    uint64_t round = 0; ///< that the trainer is given next
  };
  round_marks rounds();
  /// Rows of the task are part of a round that is to come.
  bool serves_rounds(task_id task);

  /// Nothing comes any more, well or not. The first call holds. `remark`: what the trainer should
  /// know of what it was given, or empty.
  /// `empty`: no element was given to anybody, here or elsewhere.
  void finish(status how, std::string remark = {}, bool empty = false);
  /// Something that the trainer should know now. The newest counts.
  void remark(std::string what);

  /// In elements of one task's stream.
  struct marks {
    uint64_t received = 0;    ///< less what was recalled
    uint64_t handed_out = 0;  ///< `<= received`
    size_t bytes = 0;         ///< held here
    uint64_t taken_bytes = 0; ///< ever, of blocks that the trainer is through with
    /// Since the last look: a trainer that waited was left an element when all were recalled, and
    /// waits no more. `look` only.
    bool spare = false;
    /// May be handed out, `<= received`.
    uint64_t confirmed = 0;
    /// Since the last look: the trainer came to the last element that may be handed out, and more
    /// is there. `look` only.
    bool held_up = false;
  };
  marks of(task_id from);
  /// The trainer is blocked in `next`, and there is nothing for it.
  bool waiting();
  /// All marks, and whether the trainer waits. The next wake comes no sooner than the trainer is
  /// through with `quiet` more bytes, even if it waits then.
  std::map<task_id, marks> look(bool& waiting, uint64_t quiet = 0);

  // -- the trainer's side ---------------------------------------------------------

  /// The next block, of which nothing is handed out yet: each row must be claimed. Blocks until
  /// there is one. nullptr at the end or on `stop`: `how` says which. An error of `finish` is told
  /// once, then it is the end.
  std::shared_ptr<const block> next(std::stop_token stop, status& how);
  enum class outcome { rows, nothing_yet, over };
  /// As `next`, but does not block: after `nothing_yet` the trainer counts as waiting.
  outcome try_next(std::shared_ptr<const block>& rows, status& how);
  /// As `next`, but waits no longer than `limit`: `nothing_yet` then, and the trainer counts as
  /// waiting until it asks again. Over on `stop`, too: `how` says so.
  outcome next_within(duration limit, const std::stop_token& stop,
                      std::shared_ptr<const block>& rows, status& how);
  /// What is to be said of the whole, once it is over; then empty.
  std::string take_remark();
  /// There is a `remark` that `take_news` was not called for.
  bool has_news() const noexcept { return has_news_.load(std::memory_order_relaxed); }
  std::string take_news();
  /// It has ended, and no element was given to anybody.
  bool was_empty();
  /// Hands out the next row of the block that `next` gave last; negative if none is left: go on
  /// with `next`.
  int64_t claim() noexcept {
    if (expired())
      return -1;
    // A claim too many leaves the position beyond the limit; readers of it know that.
    const auto seen = cut_.fetch_add(1);
    const auto row = static_cast<uint32_t>(seen);
    const auto limit = seen >> 32;
    if (row + uint64_t{1} == limit)
      through();
    return row < limit ? static_cast<int64_t>(row) : -1;
  }
  /// Hands out up to `rows` rows at once: [first, last).
  std::pair<size_t, size_t> claim_up_to(size_t rows) noexcept;

private:
  struct queue {
    std::deque<block> blocks;      ///< behind the current one
    uint64_t received = 0;         ///< less what was recalled
    uint64_t before_current = 0;   ///< handed out of blocks before the current one
    size_t waiting_bytes = 0;      ///< of `blocks`
    uint64_t taken_bytes = 0;      ///< ever
    bool held = false;             ///< nothing of it is handed out
    bool kept_for_waiting = false; ///< see `marks::spare`
    bool held_up = false;          ///< see `marks`
    bool parted = false; ///< the trainer has the first half of what may be handed out of a block
    std::optional<uint64_t> confirmed; ///< may be handed out; nothing: all
  };
  /// How many of the rows behind the current block may be handed out.
  uint64_t room(task_id from, const queue& q) const;
  bool ready(task_id from, const queue& q) const {
    return !q.held && !q.blocks.empty() && room(from, q) != 0;
  }
  uint64_t confirmed_of(const queue& q) const { return q.confirmed.value_or(q.received); }
  bool expired() const noexcept {
    const auto until = trusted_.load(std::memory_order_relaxed);
    return until != for_ever && now_ && now_() > time_point{duration{until}};
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
  void tell_if_ready(std::unique_lock<std::mutex>& lock);
  outcome take_locked(std::shared_ptr<const block>& rows, status& how);
  /// The last row of a block was taken.
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
  task_id current_from_; ///< whose block is current; nobody's at first
  std::shared_ptr<const block> current_;
  size_t current_bytes_ = 0;
  std::atomic<uint64_t> cut_{0}; ///< limit in the upper half, position in the lower
  bool waiting_ = false;
  uint64_t unseen_bytes_ = 0; ///< taken since `look`
  uint64_t quiet_bytes_ = 0;
  std::atomic<bool> each_block_{true}; ///< `quiet_bytes_` is 0
  std::optional<round_order> rounds_;  ///< of coordinated reads
  std::optional<status> end_;
  std::string remark_;
  std::string news_;
  std::atomic<bool> has_news_{false};
  bool empty_ = false;
  std::atomic<bool> told_{false}; ///< woken, and nobody has looked yet
};

} // namespace headrace
