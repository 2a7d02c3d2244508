#pragma once

#include "headrace/actors/stream/fragment.hpp"
#include "headrace/actors/stream/stream_messages.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <deque>
#include <vector>

namespace headrace::stream {

/// The task's end of its stream to one consumer: numbers what goes out, obeys the credit, and keeps
/// every fragment until all its rows were handed out. What comes back un-handed (after a recall, a
/// new opening, a death) is returned to the caller, who gives it to others. Pure: no time, no I/O.
class stream_sender {
public:
  /// Returned to the task: rows that nobody has, ascending by position.
  using give_back = std::vector<fragment>;

  /// True if this stream can go on from what `o` says: nothing it claims to have is unknown here.
  bool can_resume(const open& o) const noexcept;
  /// Begins under `o`. What was sent and not received comes back, and is sent again by whoever
  /// calls `send`. @pre `can_resume(o)`
  give_back reopen(const open& o);
  /// Takes a report in. True if it lowered the credit and `settled` must be answered. Reports of
  /// another opening, or older than the last one, change nothing; so does one that claims what was
  /// never sent.
  bool take(const report& r);
  /// Rows at and above the mark. An answer to another recall than the last one changes nothing.
  give_back take(const recalled& r);
  /// The consumer left: everything above what was handed out comes back.
  give_back take(const close& c);
  /// The consumer died, or was given up.
  give_back abandon();
  /// The connection is lost; nothing is sent until `reopen`.
  void cut() noexcept { open_ = false; }

  /// How many rows of `next` may be sent now; zero while the stream is cut or a recall is out.
  uint32_t room_for(const fragment& next) const;
  /// Numbers it and keeps it. @pre `room_for(f) >= f.rows`
  data send(fragment f);
  /// Asks for half of what is un-handed, or for all if the consumer handed nothing out since the
  /// last recall was answered. @pre `may_recall()`
  recall begin_recall();

  bool is_open() const noexcept { return open_; }
  uint64_t opening() const noexcept { return opening_; }
  bool recalling() const noexcept { return recalling_; }
  /// Un-handed rows are there and no recall is out.
  bool may_recall() const noexcept { return open_ && !recalling_ && outstanding() > 0; }
  /// Sent and, as far as was reported, not handed out.
  uint64_t outstanding() const noexcept { return sent_ - handed_out_; }
  uint64_t outstanding_bytes() const noexcept { return kept_bytes_; }
  uint64_t handed_out() const noexcept { return handed_out_; }
  /// The first position that the credit does not cover.
  uint64_t granted() const noexcept;
  const window& credit() const noexcept { return credit_; }
  /// The trainer waits and has everything we sent.
  bool hungry() const noexcept {
    return open_ && waiting_ && !recalling_ && outstanding() == 0 && credit_.elements > 0;
  }
  /// Its trainer has taken nothing since rows were recalled from it, and does not wait.
  bool stalled() const noexcept {
    return was_recalled_ && !waiting_ && handed_out_ == handed_at_recall_;
  }

  /// Set by the task: the end was declared to this opening.
  bool end_told = false;
  /// Set by the task: no recall before this, unless the consumer says something new.
  time_point no_recall_before{};
  /// Fresh reports so far; changes when the consumer says something new.
  uint64_t news() const noexcept { return news_; }

private:
  struct kept {
    uint64_t seq;
    uint64_t first;
    fragment rows;
  };
  void acknowledge(uint64_t handed_out);
  give_back take_above(uint64_t position);

  bool open_ = false;
  bool waiting_ = false;
  bool recalling_ = false;
  bool was_recalled_ = false;
  uint64_t opening_ = 0;
  uint64_t next_seq_ = 0;
  uint64_t sent_ = 0;
  uint64_t handed_out_ = 0;
  uint64_t last_report_ = 0;
  uint64_t recall_number_ = 0;
  uint64_t handed_at_recall_ = 0;
  uint64_t news_ = 0;
  uint64_t kept_bytes_ = 0;
  window credit_;
  std::deque<kept> kept_;
};

} // namespace headrace::stream
