#pragma once

#include "headrace/actors/stream/pending_rows.hpp"
#include "headrace/actors/stream/stream_sender.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headrace::stream {

/// What one task produced, and to whom it goes: the core of the task actor.
///
/// - Rows go to streams with credit only: first to those whose trainer waits, then in turn, in
///   small quanta. With one stream whole blocks pass through.
/// - When a trainer waits and there is nothing to give (the sources are exhausted, or nothing was
///   produced for `patience`), what the other streams hold and have not handed out is recalled:
///   half of it, and from one that has handed nothing out since its last recall all of it. Rows
///   that come back go first, in the order of production.
/// - The end is declared to all streams at once: when the sources are exhausted, nothing is
///   pending, and everything sent was handed out.
///
/// Call `poll` after any other call and send what it returns. Pure: time is an argument.
class task_output {
public:
  struct options {
    /// Production is wanted while fewer bytes than this wait for credit.
    uint64_t lookahead_bytes = 256 * 1024;
    /// How long a waiting trainer waits for production before others' rows are recalled.
    duration patience = std::chrono::milliseconds{2};
  };
  struct outgoing {
    consumer_id to;
    to_consumer what;
  };
  /// How far one consumer has come, in elements of its stream.
  struct marks {
    uint64_t granted = 0;
    uint64_t handed_out = 0;
  };

  task_output() = default;
  explicit task_output(options o) : options_(o) {}

  // -- from the runner ----------------------------------------------------------

  /// True while the runner should go on; it may finish the block it is at.
  bool wants_rows() const noexcept;
  /// The next block of the output. After `production_restarted` the rows that had been produced
  /// before are dropped.
  void produced(std::shared_ptr<const block> rows);
  /// There is nothing more, ever: exhausted, or failed.
  void production_ended(status why = {});
  /// The runner starts over at index 0 and will produce the same rows again.
  void production_restarted() noexcept { replayed_ = 0; }
  /// Rows numbered so far, replayed ones counted once.
  uint64_t produced_rows() const noexcept { return produced_; }

  // -- from the consumers -------------------------------------------------------

  void receive(consumer_id from, const to_task& what);
  /// Its connection is lost; it may open again until it is removed.
  void cut(consumer_id who);
  /// It left or died: its un-handed rows go to the others.
  void remove(consumer_id who);

  // -- to do --------------------------------------------------------------------

  std::vector<outgoing> poll(time_point now);
  /// When `poll` should be called at the latest if nothing else happens.
  std::optional<time_point> wake_at() const noexcept { return wake_at_; }

  // -- state --------------------------------------------------------------------

  /// The end was declared; nothing but repeating it to who opens again is left.
  bool finished() const noexcept { return finished_; }
  /// Some stream is open and has credit left: this task should lease splits.
  bool has_credit() const noexcept;
  size_t consumers() const noexcept { return streams_.size(); }
  bool has_open_stream() const noexcept;
  /// Rows that wait for credit.
  uint64_t pending_rows() const noexcept { return pending_.rows(); }
  uint64_t pending_bytes() const noexcept { return pending_.bytes(); }
  /// Rows sent and not known to be handed out.
  uint64_t outstanding_rows() const noexcept;
  /// Elements handed out over all consumers, those that left included.
  uint64_t handed_out_rows() const noexcept;
  std::optional<marks> marks_of(consumer_id who) const;
  uint64_t recalls() const noexcept { return recalls_; }

private:
  void open_stream(consumer_id from, const open& o);
  void give_back(stream_sender::give_back rows);
  void deal(std::vector<outgoing>& out);
  bool deal_one(std::vector<outgoing>& out);
  uint32_t quantum(const stream_sender& s, size_t sharers, size_t hungry) const;
  void recall_for_the_hungry(time_point now, std::vector<outgoing>& out);
  void declare_end(std::vector<outgoing>& out);

  options options_;
  std::map<consumer_id, stream_sender> streams_;
  pending_rows pending_;
  uint64_t produced_ = 0;
  uint64_t replayed_ = 0;
  uint64_t handed_by_gone_ = 0;
  uint64_t recalls_ = 0;
  bool ended_ = false;
  bool finished_ = false;
  status why_;
  consumer_id last_served_;
  std::optional<time_point> hungry_since_;
  std::optional<time_point> wake_at_;
  std::vector<outgoing> answers_;
};

} // namespace headrace::stream
