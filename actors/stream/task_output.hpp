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

namespace headrace {

/// What a task produced, and to whom it goes: the streams to all its consumers.
///
/// Rows are dealt in turn to streams with credit, first to those whose trainer waits, and kept
/// until the consumer says that its trainer has them. Once nothing more is produced, a stream gets
/// an even part of what is left, and the next when it has handed that out (guided self-scheduling):
/// what stays here need not be recalled. When a trainer waits and the task has nothing
/// more to give, what the others hold is recalled: half of it, or everything from one that handed
/// nothing out since its last recall; that one is dealt nothing more before it moves. The end is
/// declared when nothing is un-handed anywhere. Pure: events in, `deal()` says what to send.
/// Elements are counted per stream, without gaps; after a recall the count goes on at its mark.
class task_output final : public dealer {
public:
  /// Not `shared`: there is one consumer, which gets whole blocks and its end with the last of
  /// them. `accounts`: remembers of which splits rows were handed out. `claims`: a trainer is
  /// handed out only what its consumer has claimed and this has confirmed, so that what a consumer
  /// holds that is given up goes to others, and none of it twice.
  explicit task_output(bool shared, bool accounts = false, bool claims = false)
    : shared_(shared), accounts_(accounts), claims_(claims) {}

  /// How rows are dealt that several outputs are given, each to the streams of its trainer.
  struct sharing {
    bool shared = true; ///< several consumers may read
    bool accounts = false;
    /// Blocks are sent as they came, as far as that was granted: they are encoded for others, too.
    bool whole = false;
    /// What came back and was overtaken meanwhile is skipped, so that numbers rise.
    bool rising = false;
  };
  explicit task_output(sharing how)
    : shared_(how.shared), accounts_(how.accounts), whole_(how.whole), rising_(how.rising) {}

  // -- events -----------------------------------------------------------------------

  void produced(block rows) override;
  /// Rows with numbers of their own: so many were produced before them.
  void produced_at(uint64_t number, dealt_rows rows);
  /// Rows that have no numbers, behind so many that have.
  void produced_apart(uint64_t number, block rows);
  void exhausted() override;
  status opened(consumer_id who, const stream_open& how) override;
  /// A stream begins, or goes on over another connection after what was `received`.
  void open(consumer_id who, uint64_t received, uint64_t handed_out);
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
             bool waiting) override;
  void recalled(consumer_id who, uint64_t id, uint64_t mark) override;
  void handed_out(consumer_id who, uint64_t elements) override;
  void received(consumer_id who, uint64_t elements) override;
  void claims(consumer_id who, uint64_t elements) override;
  void leaving() override;
  void cut(consumer_id who) override;
  void leave(consumer_id who) override;
  void give_up(consumer_id who) override;

  // -- what to do -------------------------------------------------------------------

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
  /// Rows and bytes that wait for credit.
  uint64_t pending_rows() const noexcept { return pending_rows_; }
  size_t pending_bytes() const noexcept override { return pending_bytes_; }
  /// Bytes sent and not handed out.
  size_t retained_bytes() const noexcept;
  /// Nothing is pending, and some stream may be sent something.
  bool has_room() const noexcept;
  /// A stream that is cut off does not count for `place`, until it is opened again.
  void disregard(consumer_id who);
  /// As `handed_out_below`, but for streams that are disregarded. @pre not `idle()`
  uint64_t place() const noexcept;
  /// Rows with numbers that are pending, or sent and not handed out.
  uint64_t outstanding() const noexcept;
  /// Nothing is pending, and nothing sent that was not handed out.
  bool idle() const noexcept;
  /// Streams that are there, and of these those that are connected.
  size_t streams() const noexcept { return streams_.size(); }
  size_t connected() const noexcept;
  /// Rows that nobody gets: they were dropped, or overtaken, before they were handed out.
  uint64_t skipped() const noexcept { return skipped_; }

private:
  /// What waits to be dealt.
  struct piece {
    uint64_t number = 0; ///< rows that were produced before it
    dealt_rows rows;
    bool apart = false; ///< they have no numbers

    uint64_t numbers() const noexcept { return apart ? 0 : rows.rows(); }
    uint64_t end() const noexcept { return number + numbers(); }
    /// Without its first rows.
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
    bool ended = false; ///< it was told
    bool disregarded = false;
    uint64_t sent = 0;
    uint64_t received = 0; ///< as far as it was told
    uint64_t handed_out = 0;
    uint64_t granted = 0;
    uint64_t window_bytes = 0;
    uint64_t resend_from = 0; ///< below `sent` only after a new connection
    uint64_t recall = 0;      ///< the one that is not answered yet, or 0
    uint64_t handed_out_at_recall = 0;
    uint64_t reached = 0;   ///< no row of a lower number is to be sent, where numbers rise
    uint64_t wanted = 0;    ///< its newest claim, of what is sent and what is yet to be
    uint64_t claimed = 0;   ///< may be handed out, `<= sent`
    uint64_t confirmed = 0; ///< of these, as far as it was told
    std::deque<kept> retained;
    size_t retained_bytes = 0;

    bool waiting = false; ///< its trainer, when it last spoke; not after something was sent
    bool was_recalled = false;
    bool asked_in_vain = false; ///< the last recall gave nothing, and it said nothing new since

    /// May be sent something.
    bool has_room() const noexcept;
    /// Its trainer waits and has all that was sent.
    bool starved() const noexcept;
    /// Holds something, and may be asked for it.
    bool recallable() const noexcept;
    /// Its trainer took nothing since the last recall, and does not wait.
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
  /// As many rows as a stream may hold to be dealt more: of what is left, once nothing more is
  /// produced, one for each stream.
  uint64_t even_part() const noexcept;
  /// All consumers, beginning after the one that was served last.
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
  uint64_t produced_ = 0; ///< rows
  size_t pending_bytes_ = 0;
  uint64_t pending_rows_ = 0;
  std::map<consumer_id, stream> streams_;
  consumer_id last_served_;
  uint64_t last_recall_ = 0;
  uint64_t skipped_ = 0;
  uint64_t handed_through_ = 0; ///< rows of lower numbers may have been handed out
  reached_splits given_;
  std::map<consumer_id, reader_marks> lost_;
};

} // namespace headrace
