#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/actors/stream/dealer.hpp"
#include "headrace/actors/stream/dealt_rows.hpp"
#include "headrace/actors/stream/reached_splits.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <deque>
#include <map>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Deals the output of a task to the streams of its consumers.
///
/// Rows are dealt in turn to streams with credit, first to those whose trainer waits, and are kept
/// until the consumer reports that they were handed out. Once nothing more is produced, a stream is
/// dealt rows only while it holds fewer than an even part of the remaining rows (guided
/// self-scheduling): rows that stay in the task need not be recalled. When a trainer waits and the
/// task has no more rows for it, rows of other streams are recalled: half of the rows that a stream
/// holds, or all of them if its trainer took nothing since the last recall. After a recall, a
/// stream is dealt nothing more before its trainer takes an element or waits. The end is sent when
/// no stream holds rows that are not handed out.
///
/// Pure: it is given events, and `deal` returns what to send. The elements of a stream are numbered
/// without gaps; after a recall the numbers continue at its mark.
class task_output final : public dealer {
public:
  /// `shared`: false if there is one consumer; then nothing is recalled, and the end is sent with
  /// the last rows. `accounts`: the splits of handed-out rows are recorded. `claims`: a
  /// trainer is handed only rows that its consumer has claimed and this class has confirmed. So the
  /// unclaimed rows of a consumer that is given up can go to others, and no row is handed out
  /// twice.
  explicit task_output(bool shared, bool accounts = false, bool claims = false)
    : shared_(shared), accounts_(accounts), claims_(claims) {}

  /// Options for one of several outputs that are given the same rows. Each output serves the
  /// streams of one trainer.
  struct sharing {
    bool shared = true; ///< several consumers may read
    bool accounts = false;
    /// Blocks are sent uncut, as far as the credit allows, so that their written forms can be
    /// shared.
    bool whole = false;
    /// Rows that are given back are skipped if later rows were handed out, or were sent on another
    /// stream, so that the numbers of the rows that a trainer is handed increase.
    bool rising = false;
    bool claims = false; ///< as in the constructor
  };
  explicit task_output(sharing how)
    : shared_(how.shared),
      accounts_(how.accounts),
      claims_(how.claims),
      whole_(how.whole),
      rising_(how.rising) {}

  // -- events -----------------------------------------------------------------------

  void produced(block rows) override;
  /// Adds rows that have numbers. `number`: the number of rows that were produced before them.
  void produced_at(uint64_t number, dealt_rows rows);
  /// Adds rows that have no numbers, such as error rows, which no window keeps. `number`: the
  /// number of rows with numbers before them.
  void produced_apart(uint64_t number, block rows);
  void exhausted() override;
  status opened(consumer_id who, const stream_open& how) override;
  /// A stream begins, or continues over another connection after its first `received` elements.
  void open(consumer_id who, uint64_t received, uint64_t handed_out);
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
             bool waiting) override;
  void taken(consumer_id who, uint64_t elements) override;
  void recalled(consumer_id who, uint64_t id, uint64_t mark) override;
  void handed_out(consumer_id who, uint64_t elements) override;
  void received(consumer_id who, uint64_t elements) override;
  void claims(consumer_id who, uint64_t elements) override;
  void leaving() override;
  void cut(consumer_id who) override;
  void leave(consumer_id who) override;
  void give_up(consumer_id who) override;

  // -- actions ----------------------------------------------------------------------

  std::vector<action> deal(bool dry = false);
  std::vector<action> deal_at(time_point, bool dry) override { return deal(dry); }
  bool could_recall() const noexcept override;
  std::vector<send_end> remaining_ends() override;
  bool finished() const noexcept override;
  bool delivered() const noexcept override;
  std::map<consumer_id, reader_marks> held() const override;
  std::map<consumer_id, reader_marks> lost() const override { return lost_; }
  uint64_t handed_out_below() const noexcept override;
  const reached_splits& given() const noexcept override { return given_; }
  /// The number of rows that wait for credit.
  uint64_t pending_rows() const noexcept { return pending_rows_; }
  size_t pending_bytes() const noexcept override { return pending_bytes_; }
  /// Bytes that were sent and not handed out.
  size_t retained_bytes() const noexcept;
  /// True if nothing is pending, and some stream has credit and is not `stalled`. If the task
  /// leaves, a stalled stream counts, too.
  bool has_room() const noexcept;
  /// Leaves the consumer's stream out of `place` until the consumer opens it again.
  void disregard(consumer_id who);
  /// As `handed_out_below`, without the streams that are disregarded. @pre not `idle()`
  uint64_t place() const noexcept;
  /// Drops the pending rows. If the last of them have numbers without gaps up to `end`, returns the
  /// number of the first row of that sequence, else `end`. All other pending rows count as skipped.
  uint64_t drop_pending(uint64_t end);
  /// The number of produced rows that were not handed out yet, whether they were sent or are
  /// pending, without those of `produced_apart`, which have no numbers.
  uint64_t outstanding() const noexcept;
  /// True if no row is pending, that is, waits to be dealt, and every row that was sent was handed
  /// out.
  bool idle() const noexcept;
  /// The number of streams, and the number of those that are connected.
  size_t streams() const noexcept { return streams_.size(); }
  size_t connected() const noexcept;
  /// The number of rows that no consumer is given: they were dropped before they were handed out,
  /// or were given back too late.
  uint64_t skipped() const noexcept { return skipped_; }

private:
  /// Rows that wait to be dealt.
  struct piece {
    uint64_t number = 0; ///< the number of rows that were produced before the piece
    dealt_rows rows;
    bool apart = false; ///< the rows have no numbers

    uint64_t numbers() const noexcept { return apart ? 0 : rows.rows(); }
    uint64_t end() const noexcept { return number + numbers(); }
    /// The piece without its first rows.
    piece behind(size_t first) const {
      return {apart ? number : number + first, rows.slice(first, rows.rows() - first), apart};
    }
  };
  struct kept : piece {
    uint64_t first = 0;
    size_t bytes = 0;
  };
  struct stream {
    bool connected = false;
    bool ended = false; ///< the stream was sent its end
    bool disregarded = false;
    uint64_t sent = 0;
    uint64_t received = 0; ///< as last reported
    uint64_t handed_out = 0;
    uint64_t taken = 0; ///< with the elements in use, `>= handed_out`, `<= sent`
    uint64_t granted = 0;
    uint64_t window_bytes = 0;
    uint64_t resend_from = 0; ///< below `sent` only after a new connection
    uint64_t recall = 0;      ///< the id of the recall that is not answered yet; 0: there is none
    uint64_t taken_at_recall = 0;
    /// One more than the number of the last row that was sent. If numbers must increase, rows with
    /// lower numbers that other streams give back are skipped.
    uint64_t reached = 0;
    /// The newest claim of the consumer, which may include elements that are not sent yet.
    uint64_t wanted = 0;
    uint64_t claimed = 0;   ///< the number of elements that may be handed out, `<= sent`
    uint64_t confirmed = 0; ///< the number of claimed elements that were confirmed to the consumer
    std::deque<kept> retained;
    size_t retained_bytes = 0;

    bool waiting = false; ///< the trainer was last reported as waiting, and nothing was sent since
    bool was_recalled = false;
    /// Since the last recall was sent, the consumer has neither given back rows nor sent a grant.
    bool asked_in_vain = false;

    /// True if the stream can be sent rows: it is connected and has credit, it has not ended, no
    /// recall is unanswered, and the retained rows do not fill its window.
    bool has_room() const noexcept;
    /// True if the trainer waits, was handed everything that was sent, and the stream can be sent
    /// more (`has_room`).
    bool starved() const noexcept;
    /// True if the stream holds rows and may be sent a recall.
    bool recallable() const noexcept;
    /// True if the trainer has taken nothing since the last recall and does not wait.
    bool stalled() const noexcept;
  };
  void forget_through(stream& of, uint64_t mark);
  void account(const dealt_rows& rows);

  void put_back(stream& from, uint64_t mark);
  void extend_claim(stream& of) const noexcept;
  void confirm_claims(std::vector<action>& out);
  piece take(uint64_t rows, size_t bytes);
  bool serve(consumer_id who, stream& to, uint64_t most_rows, std::vector<action>& out);
  void serve_the_starved(uint64_t part, std::vector<action>& out);
  /// A stream that holds this many rows is dealt no more: an even part of the remaining rows once
  /// nothing more is produced; before that there is no such limit.
  uint64_t even_part() const noexcept;
  /// All consumers, beginning after the one that was dealt rows last.
  std::vector<consumer_id> in_turn() const;
  void resend(consumer_id who, stream& to, std::vector<action>& out);
  void recall_for_the_starved(std::vector<action>& out);
  void declare_end(std::vector<action>& out);

  bool shared_;
  bool accounts_ = false;
  bool claims_ = false;
  bool whole_ = false;
  bool rising_ = false;
  bool exhausted_ = false;
  bool leaving_ = false;
  std::deque<piece> pending_;
  uint64_t produced_ = 0; ///< the number of rows that were produced
  size_t pending_bytes_ = 0;
  uint64_t pending_rows_ = 0;
  std::map<consumer_id, stream> streams_;
  consumer_id last_served_;
  uint64_t last_recall_ = 0;
  uint64_t skipped_ = 0;
  uint64_t handed_through_ = 0; ///< rows with lower numbers may have been handed out
  reached_splits given_;
  std::map<consumer_id, reader_marks> lost_;
};

} // namespace headrace::detail
