#pragma once

#include "headrace/actors/stream/handout.hpp"
#include "headrace/actors/stream/stream_messages.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <optional>

namespace headrace::stream {

/// The consumer's end of its stream from one task: takes numbered data once and in order, answers
/// recalls, and says how the consumer stands. Where the rows lie is the handout's business, how
/// much credit there is the credit pool's. Pure.
class stream_receiver {
public:
  stream_receiver(task_id task, incarnation life, uint64_t first_elements) noexcept
    : task_(task), life_(life), ramp_(first_elements) {}

  // -- what comes ---------------------------------------------------------------

  /// True if it is the next of this opening (then push it); duplicates and what an old opening says
  /// are false. A gap is false too and sets `broken`: cut the connection and open again.
  bool take(const data& d);
  /// True if it is of this opening.
  bool is_current(uint64_t opening) const noexcept { return open_ && opening == opening_; }
  void take(const settled& s);
  void take(const end& e);
  /// The handout took rows back; `received` is the mark.
  void taken_back(const handout::counts& now);

  // -- what goes ----------------------------------------------------------------

  /// Opens, under a new number, with the credit that was set. @pre not open
  open reopen(uint64_t opening, const handout::counts& now, bool waiting);
  /// Says how we stand, if the task should know: a quarter of the credit was handed out, the
  /// credit changed, or the trainer waits and something is new.
  std::optional<report> next_report(const handout::counts& now, bool waiting);
  void cut() noexcept;
  /// The task knows nothing of us: the next opening begins at zero.
  void start_over() noexcept;

  // -- credit -------------------------------------------------------------------

  /// What this stream could use: doubles while the consumer keeps up.
  uint64_t wanted_elements() const noexcept { return ramp_; }
  uint64_t wanted_bytes(uint64_t stream_bytes) const noexcept;
  /// Follows the consumer: a full window handed out since the last growth doubles the wish.
  void keep_up(const handout::counts& now) noexcept;
  const window& credit() const noexcept { return credit_; }
  /// Sets the credit that the next report grants.
  void set_credit(const window& w) noexcept;
  /// What may still arrive or lie here: no less than the credit, and more while a lowered credit is
  /// not settled.
  window promised(const handout::counts& now) const noexcept;

  task_id task() const noexcept { return task_; }
  incarnation life() const noexcept { return life_; }
  bool is_open() const noexcept { return open_; }
  bool broken() const noexcept { return broken_; }
  bool ended() const noexcept { return ended_; }
  const status& why() const noexcept { return why_; }
  uint64_t opening() const noexcept { return opening_; }
  uint64_t received() const noexcept { return received_; }
  /// Asks to open as soon as there is a connection.
  bool connected = false;

private:
  task_id task_;
  incarnation life_;
  uint64_t ramp_;
  uint64_t first_ramp_ = ramp_;
  uint64_t grown_at_ = 0; ///< handed out when the ramp last grew
  uint64_t largest_row_ = 0;
  bool open_ = false;
  bool broken_ = false;
  bool ended_ = false;
  status why_;
  uint64_t opening_ = 0;
  uint64_t next_seq_ = 0;
  uint64_t received_ = 0;
  uint64_t reports_ = 0;
  report last_; ///< what the task was told
  window credit_;
  std::optional<uint64_t> lowered_by_; ///< the report that lowered the credit, until it is settled
  window before_lowering_;
};

} // namespace headrace::stream
