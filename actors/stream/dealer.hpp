#pragma once

#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/actors/stream/reached_splits.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Decides what a task does with its output: which rows go to which stream, and when the streams
/// end. Pure: it is given events, and `deal_at` returns what to send.
///
/// The elements of a stream are numbered without gaps; after a recall the numbers continue at its
/// mark.
class dealer {
public:
  struct send_block {
    consumer_id to;
    uint64_t first = 0; ///< the number of elements of this stream before these rows
    block rows;
    uint64_t skipped = 0;                    ///< see `stream_block`
    std::shared_ptr<block_forms> forms = {}; ///< see `stream_block`
    uint64_t claimed = 0;                    ///< see `stream_block`
  };
  struct send_recall {
    consumer_id to;
    uint64_t id = 0;
    /// The number of elements, beyond those handed out, that the consumer may keep.
    uint64_t keep = 0;
  };
  struct send_end {
    consumer_id to;
    uint64_t elements = 0; ///< the number of elements of this stream
  };
  /// The task confirms a claim: the trainer may be handed the elements below this number.
  struct send_claimed {
    consumer_id to;
    uint64_t elements = 0;
  };
  /// In coordinated reads: all consumers have received this many groups of the task, and each of
  /// them has reported that it takes part in that epoch.
  struct send_received_by_all {
    consumer_id to;
    uint64_t epoch = 0;
    uint64_t groups = 0;
  };
  using action =
    std::variant<send_block, send_recall, send_end, send_claimed, send_received_by_all>;

  dealer() = default;
  dealer(const dealer&) = delete;
  dealer(dealer&&) = default;
  dealer& operator=(const dealer&) = delete;
  dealer& operator=(dealer&&) = default;
  virtual ~dealer() = default;

  // -- events -----------------------------------------------------------------------

  virtual void produced(block rows) = 0;
  /// The runner produces nothing more.
  virtual void exhausted() = 0;
  /// Not ok if production must not end now: the error to report if it ends.
  virtual status may_end() const { return {}; }
  /// A stream begins, or continues over another connection. On an error, the stream is refused.
  virtual status opened(consumer_id who, const stream_open& how) = 0;
  /// The consumer allows the first `elements` elements of the stream, and at most `bytes` bytes
  /// that were sent and not handed out; one element may be sent whatever its size. `waiting`: the
  /// trainer is blocked in `next`, and no stream has anything for it.
  virtual void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
                     bool waiting) = 0;
  /// The answer to a recall: elements from `mark` on are given back.
  virtual void recalled(consumer_id who, uint64_t id, uint64_t mark) = 0;
  /// The consumer reports how many elements of the stream were handed out.
  virtual void handed_out(consumer_id who, uint64_t elements) = 0;
  /// The consumer reports how many elements of the stream have arrived.
  virtual void received(consumer_id who, uint64_t elements) = 0;
  /// The consumer reports how many elements of the stream its trainer has taken. Those that are
  /// not reported as handed out are in use: the task keeps them, and does not recall them.
  virtual void taken(consumer_id who, uint64_t elements) {
    static_cast<void>(who);
    static_cast<void>(elements);
  }
  /// The consumer claims the elements of the stream below this number.
  virtual void claims(consumer_id who, uint64_t elements) {
    static_cast<void>(who);
    static_cast<void>(elements);
  }
  /// In coordinated reads: the consumer takes part in that epoch.
  virtual void in_epoch(consumer_id who, uint64_t epoch) {
    static_cast<void>(who);
    static_cast<void>(epoch);
  }
  /// The task leaves: streams with credit get all pending rows, and nothing is recalled.
  virtual void leaving() = 0;
  /// The connection to the consumer is lost; its stream is kept.
  virtual void cut(consumer_id who) = 0;
  /// The consumer has left: the rows that it had not handed out go to the other streams.
  virtual void leave(consumer_id who) = 0;
  /// The consumer is given up and did not report its position: the elements that it claimed count
  /// as handed out, and the others go to the other streams.
  virtual void give_up(consumer_id who) { leave(who); }

  // -- actions ----------------------------------------------------------------------

  /// To be called after events. Returns what to send, in this order. `dry`: nothing was produced
  /// for a while, so that rows are recalled for trainers that wait, although the sources are not
  /// exhausted.
  virtual std::vector<action> deal_at(time_point now, bool dry) = 0;
  /// When `deal_at` must be called without an event.
  virtual std::optional<time_point> next_deadline() const { return {}; }
  /// Sets a function, which may be empty. It is called, from any thread, when memory for windows of
  /// the worker's tasks has become free, so that `deal_at` may have something to send.
  virtual void when_there_is_room(std::function<void()> call) { static_cast<void>(call); }
  /// True if `deal_at` would recall rows if its argument `dry` were true: a trainer waits, all
  /// produced rows are dealt, and another stream holds rows.
  virtual bool could_recall() const = 0;
  /// The ends of the streams that were not sent an end yet. Nothing more is sent on these streams.
  virtual std::vector<send_end> remaining_ends() = 0;

  // -- state ------------------------------------------------------------------------

  /// True if everything is handed out and every stream was sent its end.
  virtual bool finished() const = 0;
  /// True if nothing more is produced and all consumers have received everything.
  virtual bool delivered() const = 0;
  /// The readers that were sent rows and have not handed them out.
  virtual std::map<consumer_id, reader_marks> held() const = 0;
  /// The readers that were given up, with the elements that they had claimed and not reported as
  /// handed out: these go to no other reader.
  virtual std::map<consumer_id, reader_marks> lost() const { return {}; }
  /// Returns a number such that all rows with lower numbers were handed out.
  virtual uint64_t handed_out_below() const = 0;
  /// The splits of which rows were handed out, if the dealer records splits.
  virtual const reached_splits& given() const = 0;
  /// The bytes that were produced and not dealt yet.
  virtual size_t pending_bytes() const = 0;
  /// The state of the window that trainers share, if there is one.
  virtual std::optional<cache_report> report() const { return {}; }
};

} // namespace headrace::detail
