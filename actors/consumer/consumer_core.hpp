#pragma once

#include "headrace/actors/consumer/consumer_command.hpp"
#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/actors/stream/claim_ahead.hpp"
#include "headrace/actors/stream/handout.hpp"
#include "headrace/actors/stream/received_splits.hpp"
#include "headrace/actors/stream/stream_credit.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/first_contact.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace headrace {

/// Decides for a consumer, which reads one repetition of a job for a trainer: it keeps in touch
/// with the dispatcher, opens a stream to each task, grants credit as the trainer takes elements,
/// gives back what is recalled, and ends the handout when the repetition is finished or cannot
/// continue.
///
/// It is given events with the time, and returns commands. Knows no actor, thread, link or clock;
/// it shares the handout with the trainer's thread.
class consumer_core {
public:
  using commands = consume::commands;

  /// `service`: the dispatcher's address, for messages to people.
  consumer_core(consumer_options options, consumer_id id, std::string service,
                std::shared_ptr<handout> out, logger log, time_point now);

  // -- the dispatcher -------------------------------------------------------------

  /// There is a connection to the dispatcher.
  commands dispatcher_up(time_point now);
  /// The connection was lost; another one is being made.
  commands dispatcher_down(const status& why, time_point now);
  /// An attempt to connect failed; the actor makes further ones.
  commands dispatcher_unreached(const status& why, time_point now);
  /// The answer to `consume::ask`. The failure `unavailable` may pass.
  commands answered(uint64_t number, const result<iteration_view>& what, time_point now);
  /// `consume::ask` was not answered. `passes`: the actor that had the question has ended, so that
  /// it is repeated.
  commands unanswered(uint64_t number, const status& why, bool passes, time_point now);
  /// The job announced what has changed.
  commands told(const iteration_view& what, time_point now);
  /// The answer to the `consume::beat` of the time `at`.
  commands heartbeat_answered(const status& how, time_point at, time_point now);
  /// There was no answer to the heartbeat.
  commands heartbeat_unanswered(const status& why);
  /// The answer to `consume::say_goodbye`.
  commands goodbye_answered(const status& how, time_point now);
  /// There was no answer to the goodbye.
  commands goodbye_unanswered(const status& why, time_point now);

  // -- the links to workers -------------------------------------------------------

  commands linked(const std::string& address, time_point now);
  commands not_linked(const std::string& address, const status& why, time_point now);
  /// The link of a task's stream is closed.
  commands stream_cut(task_id task, const status& why, time_point now);
  /// A message arrived on a task's stream; a failure: it could not be read.
  commands arrived(task_id task, result<from_task> what, time_point now);

  // -- the trainer ------------------------------------------------------------------

  /// The trainer took elements, or waits for some: the marks of the handout have changed.
  commands trainer_moved(time_point now);
  /// The trainer has finished with the iteration. Then the job is sent a goodbye, until
  /// `consume::quit`.
  commands trainer_leaves(time_point now);
  /// The consumer ends without a goodbye to its job. The last event.
  commands close_streams();

  // -- time -------------------------------------------------------------------------

  /// When to call `timer` at the latest.
  std::optional<time_point> next_deadline() const;
  commands timer(time_point now);

  /// The timing of the job, or the default before it is known.
  const lease_timing& timing() const noexcept { return timing_; }
  consumer_id id() const noexcept { return id_; }
  /// The number of streams that have not ended: they share the credit.
  uint64_t live_streams() const;
  bool is_live(task_id task) const;
  /// The dispatcher has answered which job the consumer reads.
  bool knows_its_job() const noexcept { return known_; }
  /// True if the handout was finished.
  bool over() const noexcept { return failed_ || ended_; }

private:
  /// The state of one task for this consumer.
  struct stream {
    incarnation life;
    std::string address;
    bool open = false;   ///< there is a link for it
    bool served = false; ///< the task has sent something on that link, so it serves this consumer
    bool opened = false; ///< was open at least once
    bool ended = false;  ///< the task sends nothing more
    /// The outcome that the task has reported.
    std::optional<task_outcome> outcome;
    bool lost = false;    ///< the job has given the task up
    bool named = false;   ///< the job names it among the running tasks
    bool held = false;    ///< its rows may belong to others, so they are not handed out
    bool leaving = false; ///< the task leaves, and sends all that it has
    /// In coordinated reads: its first element is not known yet.
    bool unplaced = false;
    stream_credit credit;
    claim_ahead claims;
    received_splits received; ///< the splits of its rows
    uint64_t skipped = 0;     ///< as the task last reported
    duration pause{};         ///< the pause before the next attempt to connect
    std::optional<time_point> retry_at;
    std::optional<time_point> away_since; ///< since when the task does not serve this consumer
    status unreached; ///< why the last attempt failed, or why the link was closed
  };

  /// True if this consumer reads from that task.
  bool reads(const task_address& task) const;
  /// Not ok: why it can read from no worker.
  status reads_nothing(const iteration_view& state) const;
  std::string no_local_worker() const;
  /// True if it may wait for splits that tasks of other processes hold or give back.
  bool others_give() const;
  bool in_rounds() const noexcept { return options_.parameters.num_consumers != 0; }
  /// In coordinated reads: the first element of the task's stream, if it is known.
  std::optional<uint64_t> place_of(task_id task) const;
  void apply_rounds(const round_view& rounds, time_point now);
  /// Not ok: some seats have been free for too long.
  status missing_consumers(time_point now) const;
  void ask_anew(time_point now);
  void ask(time_point now);
  void not_told(const status& why, bool passes, time_point now);
  void apply(const iteration_view& state, time_point now);
  void beat(time_point now);
  /// Checks whether this process was stopped for so long that the job may have given it up.
  void look_if_stopped(time_point now);
  void say_alive(time_point now);
  /// The splits of which rows came from that task and stayed.
  split_receipt receipt_of(task_id id, stream& s, size_t most_runs = most_receipt_runs);
  /// Prepares receipts of lost tasks, which are sent until the job acknowledges them.
  void account_for(const std::vector<task_id>& lost);
  /// Reports at once when all rows of a task that is over were handed out, as the job waits for
  /// that.
  void look_at_held(time_point now);
  bool is_through(task_id task) const;
  reader_pace pace() const;
  void await_answer(time_point now);
  /// Sends the goodbye if there is a connection; else as soon as there is one.
  void say_goodbye();
  void say_goodbye_later(time_point now);
  void quit();
  std::optional<time_point> goodbye_deadline() const;
  commands look_at_goodbye(time_point now);
  void open(task_id id, stream& s);
  void accept(task_id id, stream& s, stream_block in);
  /// Records the total of elements that left the window before this trainer was handed them.
  void note_skips(stream& s, uint64_t skipped);
  /// The task confirmed a claim: more of the stream may be handed out.
  void confirmed(task_id id, stream& s, uint64_t elements);
  void answer_recall(task_id id, stream& s, const stream_recall& what);
  void on_failed(task_id id, stream& s, const status& why, time_point now);
  /// A message cannot be read, and sending it again would not help: the trainer gets the error.
  void reject(task_id id, stream& s, const status& why);
  /// Accepts nothing more from a task that the job has given up.
  void drop(task_id id, stream& s);
  /// True if the stream has something to receive or to report, and no link.
  static bool needs_link(const stream& s);
  void reconnect(stream& s, time_point now);
  /// Sends a grant with the present marks.
  void grant(task_id id, stream& s, const handout::marks& marks, bool waiting);
  /// Sends grants where they are worth a message.
  void refill(bool always);
  /// How many bytes the trainer may use up before `trainer_moved` is needed.
  uint64_t quiet_bytes() const;
  void conclude();
  /// What a trainer of a finite cache is warned of that comes again when part of the pass is over.
  std::string missed_before() const;
  /// Elements of tasks that ended before this consumer read from them; an upper bound.
  uint64_t unread_of_others() const;
  /// Is there no end at which the trainer is told what was lost?
  bool endless() const;
  /// What a trainer of a cache is told of the elements that it skipped.
  std::string skips() const;
  /// Warns the trainer of shards that nobody reads, where elements of other shards come.
  void note_unserved(time_point now);
  /// True if all tasks have ended as exhausted. Used in place of the job's report when the
  /// dispatcher cannot be reached.
  bool all_exhausted() const;
  void end();
  /// How long after the last answer of the job this consumer may count on its lease.
  duration trust() const { return trusted(timing_.lease); }
  /// True if the rows of the stream cannot have gone to other readers.
  bool owns(const stream& s, time_point now) const;
  /// Lets the handout give rows of streams that `owns` is true for, and of no others.
  void fence(time_point now);
  /// The job does not name this reader any more: its rows that are not handed out belong to others.
  void give_up_all(const status& why);
  /// The error for the trainer if the dispatcher or the job does not know this reader any more.
  status not_a_reader(const status& why) const;
  /// Divides the credit among the present streams.
  void share_credit();
  void forget_ended();
  /// The time-out that has passed; ok: none.
  status overdue(time_point now) const;
  /// `why`, with a note that the job may have given this reader up, if that is possible.
  status with_its_place(const status& why, time_point now) const;
  void fail(const status& why);
  status not_served() const;
  status not_reached(const stream& s) const;
  template <class Command>
  void then(Command what) {
    todo_.emplace_back(std::move(what));
  }
  commands done() { return std::exchange(todo_, {}); }

  consumer_options options_;
  consumer_id id_;
  std::string service_;
  std::shared_ptr<handout> out_;
  logger log_;
  first_contact contact_; ///< until the dispatcher has answered which job this is
  commands todo_;
  bool sends_graph_; ///< a large graph is sent only after the service asked for it

  job_id job_;
  bool connected_ = false;                 ///< to the dispatcher
  bool known_ = false;                     ///< the dispatcher has answered which job it is
  bool finished_ = false;                  ///< the repetition is finished
  bool left_ = false;                      ///< the trainer has left
  std::optional<leave_iteration> goodbye_; ///< not acknowledged by the job yet
  time_point goodbye_until_;
  std::optional<time_point> goodbye_at_; ///< when it is repeated
  bool failed_ = false;                  ///< the trainer gets an error after the rows it has
  bool ended_ = false;                   ///< the repetition ended well
  bool shared_ = false;
  uint64_t version_ = 0;
  iteration_view view_; ///< the latest whole view
  bool asked_ = false;  ///< a question is not answered yet
  uint64_t asks_ = 0;   ///< the number of questions; only the answer to the last one counts
  time_point asking_since_;
  duration ask_pause_{};
  std::optional<time_point> ask_at_;
  time_point said_at_;   ///< the time of the newest heartbeat
  time_point looked_at_; ///< when this process was last seen to run
  /// Since when this process runs again after a stop; unset when the job has answered that it still
  /// knows this reader.
  std::optional<time_point> doubt_since_;
  lease_timing timing_;
  time_point beat_at_;
  std::map<task_id, stream> streams_;
  /// Lost tasks whose receipts are not acknowledged, with the time of the heartbeat that had the
  /// receipt.
  std::map<task_id, std::optional<time_point>> receipts_due_;
  std::set<task_id> accounted_; ///< lost tasks for which there was a receipt
  /// Tasks that are over and for which the job asks how far this consumer is; true: it was reported
  /// that everything is handed out.
  std::map<task_id, bool> held_;
  iteration_losses losses_;  ///< as the job last reported
  bool over_before_ = false; ///< the repetition was finished before this consumer asked for it
  bool has_read_ = false;    ///< it has read from some task, or could have
  bool empty_ = false;       ///< the repetition gave no element to any reader
  time_point asked_at_;
  time_point lease_until_; ///< until when the job keeps this reader, as far as is known
  time_point without_worker_since_;
  /// Since when the dispatcher does not answer, or is not connected.
  std::optional<time_point> unanswered_since_;
  time_point rows_came_at_;
  std::optional<time_point> waiting_since_; ///< since when the trainer waits for an element
  /// In the job's last view no task was starting, and each shard had a task.
  bool told_everything_ = false;
  /// Entries of the dispatcher's list that had no task in that view.
  std::vector<std::string> unserved_;
  /// True if a stream that was removed had ended as exhausted; and if one had not.
  bool forgot_exhausted_ = false, forgot_other_ = false;
  /// True if one had ended before this consumer read from it; and elements of all of them.
  bool forgot_unread_ = false;
  uint64_t forgot_handed_out_ = 0;
  status unreachable_;
  /// Total of elements that left the window before this trainer was handed them.
  uint64_t skipped_ = 0;
  uint64_t skips_reported_ = 0;
  /// Since when there are shards that no task reads; and whether the trainer was warned.
  std::optional<time_point> unserved_since_;
  bool unserved_reported_ = false;
  bool came_late_ = false; ///< the repetition was finished when the job first answered
  /// As the job first answered: elements made by tasks that had ended, and lost tasks.
  uint64_t over_elements_ = 0, lost_tasks_ = 0;
  uint64_t waits_for_epoch_ = 0;               ///< not zero: the proposed epoch
  std::optional<time_point> incomplete_since_; ///< since when some seats are free
};

} // namespace headrace
