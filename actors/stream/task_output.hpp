#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
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
class task_output {
public:
  /// Not `shared`: there is one consumer, which gets whole blocks and its end with the last of
  /// them. `accounts`: remembers of which splits rows were handed out.
  explicit task_output(bool shared, bool accounts = false) : shared_(shared), accounts_(accounts) {}

  struct send_block {
    consumer_id to;
    uint64_t first = 0; ///< elements of this stream before it
    block rows;
  };
  struct send_recall {
    consumer_id to;
    uint64_t id = 0;
    uint64_t keep = 0; ///< elements beyond those handed out that it may keep
  };
  struct send_end {
    consumer_id to;
    uint64_t elements = 0; ///< of this stream
  };
  using action = std::variant<send_block, send_recall, send_end>;

  // -- events -----------------------------------------------------------------------

  void produced(block rows);
  /// Nothing more is produced.
  void exhausted();
  /// A stream begins, or goes on over another connection after what was `received`.
  void open(consumer_id who, uint64_t received, uint64_t handed_out);
  /// May send up to `elements` (a total of the stream), and hold `bytes` un-handed; one element
  /// may always go. `waiting`: its trainer is blocked, no stream has anything for it.
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes, bool waiting);
  /// The answer to a recall: elements from `mark` on come back.
  void recalled(consumer_id who, uint64_t id, uint64_t mark);
  /// So many elements of the stream were handed out.
  void handed_out(consumer_id who, uint64_t elements);
  /// So many elements of the stream have arrived.
  void received(consumer_id who, uint64_t elements);
  /// The task leaves: everything goes to who may be sent something, and nothing is recalled.
  void leaving();
  /// The connection is lost; the stream stays.
  void cut(consumer_id who);
  /// The consumer is gone: what it had not handed out goes to the others.
  void leave(consumer_id who);

  // -- what to do -------------------------------------------------------------------

  /// To be called after events; what to send, in this order. `dry`: nothing was produced for a
  /// while, so that others' rows are recalled though the source is not exhausted.
  std::vector<action> deal(bool dry = false);
  /// A trainer waits, nothing is pending, and another stream holds something: `deal(true)` would
  /// recall it.
  bool could_recall() const noexcept;
  /// The ends of the streams that were not told one: nothing more is sent on them.
  std::vector<send_end> remaining_ends();
  /// Everything is handed out and everybody was told the end.
  bool finished() const noexcept;
  /// Nothing more is produced, and everything has arrived with its consumers.
  bool delivered() const noexcept;
  /// Readers that have rows which they did not hand out.
  std::map<consumer_id, reader_marks> held() const;
  /// All rows that were produced before this many were handed out.
  uint64_t handed_out_below() const noexcept;
  /// Of which splits rows were handed out, where that is remembered.
  const reached_splits& given() const noexcept { return given_; }
  /// Rows and bytes that wait for credit.
  uint64_t pending_rows() const noexcept { return pending_rows_; }
  size_t pending_bytes() const noexcept { return pending_bytes_; }
  /// Bytes sent and not handed out.
  size_t retained_bytes() const noexcept;

private:
  /// What waits to be dealt.
  struct piece {
    uint64_t number = 0; ///< rows that were produced before it
    block rows;
  };
  struct kept {
    uint64_t first = 0;
    uint64_t number = 0; ///< rows that were produced before it
    block rows;
    size_t bytes = 0;
  };
  struct stream {
    bool connected = false;
    bool ended = false; ///< it was told
    uint64_t sent = 0;
    uint64_t received = 0; ///< as far as it was told
    uint64_t handed_out = 0;
    uint64_t granted = 0;
    uint64_t window_bytes = 0;
    uint64_t resend_from = 0; ///< below `sent` only after a new connection
    uint64_t recall = 0;      ///< the one that is not answered yet, or 0
    uint64_t handed_out_at_recall = 0;
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

  void put_back(stream& from, uint64_t mark);
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
  bool accounts_;
  bool exhausted_ = false;
  bool leaving_ = false;
  std::deque<piece> pending_;
  uint64_t produced_ = 0; ///< rows
  size_t pending_bytes_ = 0;
  uint64_t pending_rows_ = 0;
  std::map<consumer_id, stream> streams_;
  consumer_id last_served_;
  uint64_t last_recall_ = 0;
  reached_splits given_;
};

} // namespace headrace
