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

namespace headrace {

/// What a task does with its output: which of its rows go to which stream, and when the streams are
/// told their end. Pure: events in, `deal` says what to send. Elements are counted per stream,
/// without gaps; after a recall the count goes on at its mark.
class dealer {
public:
  struct send_block {
    consumer_id to;
    uint64_t first = 0; ///< elements of this stream before it
    block rows;
    uint64_t skipped = 0;                    ///< as stream_block
    std::shared_ptr<block_forms> forms = {}; ///< likewise
    uint64_t claimed = 0;                    ///< likewise
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
  /// The trainer may be handed out up to this element of the stream.
  struct send_claimed {
    consumer_id to;
    uint64_t elements = 0;
  };
  /// Of coordinated reads: so many groups have arrived with all consumers, each of which has said
  /// that it is in that epoch.
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
  /// Nothing more is produced.
  virtual void exhausted() = 0;
  /// Not ok: production must not end, and this is what to say where it does.
  virtual status may_end() const { return {}; }
  /// A stream begins, or goes on over another connection. Not ok: it is refused, and why.
  virtual status opened(consumer_id who, const stream_open& how) = 0;
  /// May send up to `elements` (a total of the stream), and hold `bytes` un-handed; one element
  /// may always go. `waiting`: its trainer is blocked, no stream has anything for it.
  virtual void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
                     bool waiting) = 0;
  /// The answer to a recall: elements from `mark` on come back.
  virtual void recalled(consumer_id who, uint64_t id, uint64_t mark) = 0;
  /// So many elements of the stream were handed out.
  virtual void handed_out(consumer_id who, uint64_t elements) = 0;
  /// So many elements of the stream have arrived.
  virtual void received(consumer_id who, uint64_t elements) = 0;
  /// The trainer may take up to this element of the stream soon.
  virtual void claims(consumer_id who, uint64_t elements) {
    static_cast<void>(who);
    static_cast<void>(elements);
  }
  /// Of coordinated reads: the consumer takes part in that epoch.
  virtual void in_epoch(consumer_id who, uint64_t epoch) {
    static_cast<void>(who);
    static_cast<void>(epoch);
  }
  /// The task leaves: everything goes to who may be sent something, and nothing is recalled.
  virtual void leaving() = 0;
  /// The connection is lost; the stream stays.
  virtual void cut(consumer_id who) = 0;
  /// The consumer is gone: what it had not handed out goes to the others.
  virtual void leave(consumer_id who) = 0;
  /// The same, but it did not say how far it is: what it claimed counts as handed out.
  virtual void give_up(consumer_id who) { leave(who); }

  // -- what to do -------------------------------------------------------------------

  /// To be called after events; what to send, in this order. `dry`: nothing was produced for a
  /// while, so that others' rows are recalled though the source is not exhausted.
  virtual std::vector<action> deal_at(time_point now, bool dry) = 0;
  /// When to deal without an event.
  virtual std::optional<time_point> next_deadline() const { return {}; }
  /// `call` is called, from any thread, when it is worth to deal again as others gave room. May be
  /// empty.
  virtual void when_there_is_room(std::function<void()> call) { static_cast<void>(call); }
  /// A trainer waits, nothing is pending, and another stream holds something: dealing `dry` would
  /// recall it.
  virtual bool could_recall() const = 0;
  /// The ends of the streams that were not told one: nothing more is sent on them.
  virtual std::vector<send_end> remaining_ends() = 0;

  // -- state ------------------------------------------------------------------------

  /// Everything is handed out and everybody was told the end.
  virtual bool finished() const = 0;
  /// Nothing more is produced, and everything has arrived with its consumers.
  virtual bool delivered() const = 0;
  /// Readers that have rows which they did not hand out.
  virtual std::map<consumer_id, reader_marks> held() const = 0;
  /// Readers that were given up, and what they may have handed out beyond what they said: nobody
  /// else is given that.
  virtual std::map<consumer_id, reader_marks> lost() const { return {}; }
  /// All rows that were produced before this many were handed out.
  virtual uint64_t handed_out_below() const = 0;
  /// Of which splits rows were handed out, where that is remembered.
  virtual const reached_splits& given() const = 0;
  /// Bytes that the producer has made and that were not dealt.
  virtual size_t pending_bytes() const = 0;
  /// What is kept for trainers that share it, where that is so.
  virtual std::optional<cache_report> report() const { return {}; }
};

} // namespace headrace
