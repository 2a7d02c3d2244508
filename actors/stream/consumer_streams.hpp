#pragma once

#include "headrace/actors/stream/handout.hpp"
#include "headrace/actors/stream/stream_receiver.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headrace::stream {

/// All streams of one consumer: the core of the consumer actor. Feeds the handout, acknowledges,
/// and deals the credit: `total_bytes` over all streams, `stream_bytes` to one (more for elements
/// so large that three would not fit), `max_outstanding` elements over all.
///
/// Call `poll` after any other call, and when the handout reports activity, and send what it
/// returns. Belongs to one thread (the handout does not). Pure but for the handout's lock.
class consumer_streams {
public:
  struct options {
    uint64_t total_bytes = uint64_t{64} << 20;
    uint64_t stream_bytes = uint64_t{4} << 20;
    /// Elements not handed out, over all tasks. @pre not zero
    uint64_t max_outstanding = unlimited;
    /// Elements that a stream is granted at first; 16 for shared jobs.
    uint64_t first_elements = unlimited;
    /// With fewer elements than tasks: how long an idle task keeps its turn while the trainer
    /// waits.
    duration turn = std::chrono::milliseconds{2};
  };
  struct outgoing {
    task_id to;
    to_task what;
  };

  /// `rows` outlives this.
  consumer_streams(options o, handout& rows) : options_(o), rows_(rows) {}

  // -- from the job -------------------------------------------------------------

  /// A task to read from. A higher incarnation of one that is known fences the older: what is held
  /// of that one is dropped. A lower or equal one changes nothing.
  void add_task(task_id task, incarnation life);
  /// Lives below `life` are over: what is held of them is dropped, and what they say.
  void fence(task_id task, incarnation life);
  /// The task is gone. `keep`: what was received of it is still handed out.
  void remove_task(task_id task, bool keep);
  /// True: no more tasks will come, so the sequence ends with the tasks that there are.
  void set_complete(bool yes) noexcept { complete_ = yes; }

  // -- from the links -----------------------------------------------------------

  /// There is a connection to the task (again): `poll` opens the stream.
  void connected(task_id task);
  void cut(task_id task);
  void receive(task_id from, const to_consumer& what);

  // -- to do --------------------------------------------------------------------

  std::vector<outgoing> poll(time_point now);
  std::optional<time_point> wake_at() const noexcept { return wake_at_; }
  /// Leaves all tasks: what was not handed out goes back to them. Aborts the handout.
  std::vector<outgoing> leave(status why);

  // -- state --------------------------------------------------------------------

  /// Every task ended and no more come.
  bool finished() const noexcept { return finished_; }
  /// Tasks whose messages had a gap: cut their connection and call `cut`.
  std::vector<task_id> broken() const;
  size_t tasks() const noexcept { return receivers_.size(); }
  bool has_task(task_id task) const { return receivers_.contains(task); }
  bool task_ended(task_id task) const;
  /// Messages dropped because a fenced life, an old opening or a repetition said them.
  uint64_t dropped() const noexcept { return dropped_; }

private:
  void receive(stream_receiver& from, const data& d);
  void receive(stream_receiver& from, const recall& r);
  void receive(stream_receiver& from, const refused& r);
  void receive(stream_receiver& from, const settled& s);
  void receive(stream_receiver& from, const end& e);
  void allot(const handout::snapshot& now, time_point at);
  void take_turns(const handout::snapshot& now, time_point at, size_t live);
  void finish_if_over();
  const handout::counts& counts_of(task_id task, const handout::snapshot& now) const;

  options options_;
  handout& rows_;
  std::map<task_id, stream_receiver> receivers_;
  std::map<task_id, incarnation> fenced_; ///< the lowest life that is listened to
  std::vector<outgoing> answers_;
  uint64_t openings_ = 0;
  uint64_t dropped_ = 0;
  uint64_t turn_ = 0;
  std::optional<time_point> turn_since_;
  std::optional<time_point> wake_at_;
  bool complete_ = false;
  bool finished_ = false;
  status failure_;
};

} // namespace headrace::stream
