#pragma once

#include "headrace/actors/consumer/consumer_command.hpp"
#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/actors/stream/claim_ahead.hpp"
#include "headrace/actors/stream/elements_in_use.hpp"
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

namespace headrace::detail {

/// The core of a consumer, which reads one repetition of a job for a trainer. It exchanges messages
/// with the dispatcher, opens a stream to each task, grants credit as the trainer takes elements,
/// gives back what is recalled, and ends the handout when the repetition is finished or cannot
/// continue.
///
/// It is given events with the time, and returns commands. It uses no actor, thread, link or clock;
/// it shares the handout with the trainer's thread.
class consumer_core {
public:
  using commands = consume::commands;

  /// `service`: the dispatcher's address, for messages to users.
  consumer_core(consumer_options options, consumer_id id, std::string service,
                std::shared_ptr<handout> out, logger log, time_point now);

  // -- the dispatcher -------------------------------------------------------------

  /// A connection to the dispatcher was made.
  commands dispatcher_up(time_point now);
  /// The connection was lost; another one is being made.
  commands dispatcher_down(const status& why, time_point now);
  /// An attempt to connect failed; the actor repeats it.
  commands dispatcher_unreached(const status& why, time_point now);
  /// The answer to `consume::ask`. The failure `unavailable` may be temporary.
  commands answered(uint64_t number, const result<iteration_view>& what, time_point now);
  /// `consume::ask` was not answered. `passes`: the failure may be temporary, because the actor
  /// that received the request has ended, so the request is repeated.
  commands unanswered(uint64_t number, const status& why, bool passes, time_point now);
  /// The job has announced a change of the repetition.
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
  /// A message arrived on a task's stream. If `what` is a failure, the message is unreadable.
  commands arrived(task_id task, result<from_task> what, time_point now);

  // -- the trainer ------------------------------------------------------------------

  /// The marks of the handout have changed: the trainer took elements, or began to wait.
  commands trainer_moved(time_point now);
  /// True if `trainer_moved` may be called a little later: the trainer takes small blocks and does
  /// not wait (`handout::postpones`), and the job waits for no report of this consumer.
  bool postpones_trainer_moved() { return held_.empty() && out_->postpones(); }
  /// The trainer has finished with the iteration. The job is sent goodbyes until one is answered;
  /// the last command is `consume::quit`.
  commands trainer_leaves(time_point now);
  /// The consumer ends before its trainer, without a goodbye to its job. If the repetition is
  /// finished, the trainer can still take the received rows; otherwise it gets no further rows, but
  /// the error `why`. This is the last event.
  commands consumer_ends(const status& why);

  // -- time -------------------------------------------------------------------------

  /// The latest time for the next call of `timer`.
  std::optional<time_point> next_deadline() const;
  commands timer(time_point now);

  /// The timing of the job, or the default before the job has answered.
  const lease_timing& timing() const noexcept { return timing_; }
  consumer_id id() const noexcept { return id_; }
  /// The number of streams that have not ended, among which the credit is divided.
  uint64_t live_streams() const;
  bool is_live(task_id task) const;
  /// The dispatcher has answered which job the consumer reads.
  bool knows_its_job() const noexcept { return known_; }
  /// True if the handout was finished.
  bool over() const noexcept { return failed_ || ended_; }
  /// True from the event `trainer_leaves` or `consumer_ends` on.
  bool has_left() const noexcept { return left_; }

private:
  /// The state of one task for this consumer.
  struct stream {
    incarnation life;
    std::string address;
    bool open = false;   ///< the stream has a link
    bool served = false; ///< the task has sent a message on that link, so it serves this consumer
    bool opened = false; ///< the stream had a link at least once
    bool ended = false;  ///< the task sends nothing more
    /// The outcome that the task has reported.
    std::optional<task_outcome> outcome;
    bool lost = false;    ///< the job has announced that the task is lost
    bool named = false;   ///< the job names the task among the running ones
    bool held = false;    ///< the rows may belong to other readers, so they are not handed out
    bool leaving = false; ///< the task leaves, and sends all rows that it has
    /// In coordinated reads: the number of the stream's first element is not known yet.
    bool unplaced = false;
    stream_credit credit;
    claim_ahead claims;
    received_splits received; ///< the splits of the received rows
    elements_in_use in_use;
    uint64_t skipped = 0; ///< the number of skipped elements, as the task last reported it
    duration pause{};     ///< the pause before the next attempt to connect
    std::optional<time_point> retry_at;
    std::optional<time_point> away_since; ///< since when the task does not serve this consumer
    status unreached; ///< the reason why the last attempt failed or the link was closed
  };

  /// True if this consumer reads from that task.
  bool reads(const task_address& task) const;
  /// Not ok: the reason why this consumer can read from no worker.
  status reads_nothing(const iteration_view& state) const;
  std::string no_local_worker() const;
  /// True if this consumer should wait although no task serves it: tasks of other processes, from
  /// which it does not read, may give back splits for a task from which it will read.
  bool others_give() const;
  bool in_rounds() const noexcept { return options_.parameters.num_consumers != 0; }
  /// In coordinated reads: the number of the first element of the task's stream, if it is known.
  std::optional<uint64_t> place_of(task_id task) const;
  void apply_rounds(const round_view& rounds, time_point now);
  /// Not ok: the trainer waits, and some seats have been free for too long; the error names them.
  status missing_consumers(time_point now) const;
  void ask_anew(time_point now);
  void ask(time_point now);
  void not_told(const status& why, bool passes, time_point now);
  void apply(const iteration_view& state, time_point now);
  void beat(time_point now);
  /// Detects that this process was stopped for so long that the job may have given this reader up.
  /// The time of the stop does not count for the time-outs.
  void look_if_stopped(time_point now);
  void say_alive(time_point now);
  /// The receipt for the rows of that task that were received and not given back.
  split_receipt receipt_of(task_id id, stream& s, size_t most_runs = most_receipt_runs);
  /// Under DYNAMIC: prepares receipts for lost tasks, which are sent until the job acknowledges
  /// them.
  void account_for(const std::vector<task_id>& lost);
  /// Sends a heartbeat at once when all rows of a task that is over were handed out, because the
  /// job waits for that report.
  void look_at_held(time_point now);
  bool is_through(task_id task) const;
  /// True if elements in use are not reported as handed out at once.
  bool withholds_in_use() const;
  reader_pace pace() const;
  void await_answer(time_point now);
  /// Sends the goodbye now, or as soon as there is a connection.
  void say_goodbye();
  void say_goodbye_later(time_point now);
  /// Closes all streams, and reports to each task how many of its elements were handed out.
  commands close_streams();
  /// Sends the task its last grant, and closes the stream.
  void close(task_id id, uint64_t handed_out);
  void quit();
  std::optional<time_point> goodbye_deadline() const;
  commands look_at_goodbye(time_point now);
  void open(task_id id, stream& s, time_point now);
  void accept(task_id id, stream& s, stream_block in, time_point now);
  /// Records the total of elements that left the window before this trainer was handed them.
  void note_skips(stream& s, uint64_t skipped);
  /// The task confirmed a claim: more of the stream may be handed out.
  void confirmed(task_id id, stream& s, uint64_t elements, time_point now);
  void answer_recall(task_id id, stream& s, const stream_recall& what, time_point now);
  void on_failed(task_id id, stream& s, const status& why, time_point now);
  /// A message cannot be read, and would be as unreadable if it were sent again: the trainer gets
  /// the error.
  void reject(task_id id, stream& s, const status& why);
  /// Accepts nothing more from a task that the job has declared lost.
  void drop(task_id id, stream& s);
  /// True if the stream has no link, and has something to receive or to report.
  static bool needs_link(const stream& s);
  void reconnect(stream& s, time_point now);
  /// Sends a grant with the present marks.
  void grant(task_id id, stream& s, const handout::marks& marks, bool waiting);
  /// Sends the grants that are due (`stream_credit::update`), and reports for which tasks wait.
  void refill(time_point now, bool always = false);
  /// How many bytes the trainer may use up before `trainer_moved` is needed.
  uint64_t quiet_bytes() const;
  void conclude();
  /// The warning for a trainer that joins a cache of a finite dataset, or comes back to it, after
  /// tasks have ended or were lost.
  std::string missed_before() const;
  /// The number of elements of tasks that ended before this consumer read them; an upper bound.
  uint64_t unread_of_others() const;
  /// True if the dataset has no end at which the trainer could be informed of losses.
  bool endless() const;
  /// The remark for a trainer of a cache about the elements that it skipped.
  std::string skips() const;
  /// Warns the trainer when some shards have had no task for the worker time-out.
  void note_unserved(time_point now);
  /// True if all tasks have ended as exhausted. Used in place of the job's report when the
  /// dispatcher cannot be reached.
  bool all_exhausted() const;
  void end();
  /// How long after the last answer of the job this consumer may assume that its lease has not
  /// expired.
  duration trust() const { return trusted(timing_.lease); }
  /// True if no rows of the stream can have gone to other readers.
  bool owns(const stream& s, time_point now) const;
  /// Lets the handout return rows of the streams for which `owns` is true, and no others.
  void fence(time_point now);
  /// To be called when this consumer is no longer a reader of its job. Takes back from the handout
  /// the rows that other readers may have been given, closes all streams, and ends the handout with
  /// `why`.
  void give_up_all(const status& why);
  /// The error for the trainer if the dispatcher or the job has answered that this consumer is not
  /// a reader.
  status not_a_reader(const status& why) const;
  /// Divides the credit among the streams.
  void share_credit();
  void forget_ended();
  /// The error of the time-out that has passed; ok: no time-out has passed.
  status overdue(time_point now) const;
  /// Returns `why`, with an explanation if the job may have given this reader up.
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
  first_contact contact_; ///< used until the dispatcher has answered which job the consumer reads
  commands todo_;
  bool sends_graph_; ///< a large graph is sent only after the service has requested it

  job_id job_;
  bool connected_ = false; ///< to the dispatcher
  /// The dispatcher has answered which job the consumer reads.
  bool known_ = false;
  bool finished_ = false;                  ///< the repetition is finished
  bool left_ = false;                      ///< the trainer has left
  std::optional<leave_iteration> goodbye_; ///< the goodbye, until the job has acknowledged it
  time_point goodbye_until_;
  std::optional<time_point> goodbye_at_; ///< when the goodbye is repeated
  bool failed_ = false;                  ///< the trainer gets an error after the rows that it has
  bool ended_ = false;                   ///< the repetition ended without an error
  bool shared_ = false;
  uint64_t version_ = 0;
  iteration_view view_; ///< the latest whole view
  bool asked_ = false;  ///< an OpenIteration is not answered yet
  uint64_t asks_ = 0;   ///< the number of OpenIterations; only the answer to the last one counts
  time_point asking_since_;
  duration ask_pause_{};
  std::optional<time_point> ask_at_;
  time_point said_at_;   ///< the time of the newest heartbeat
  time_point looked_at_; ///< when this process was last seen to run
  /// When this process was found to run again after a stop; unset when the job has answered that
  /// this consumer is still a reader.
  std::optional<time_point> doubt_since_;
  lease_timing timing_;
  time_point beat_at_;
  std::map<task_id, stream> streams_;
  /// Lost tasks whose receipts are not acknowledged, each with the time of the first heartbeat that
  /// contained its receipt; unset: no heartbeat has contained it yet.
  std::map<task_id, std::optional<time_point>> receipts_due_;
  std::set<task_id> accounted_; ///< lost tasks for which there was a receipt
  /// Tasks that are over and about which the job requests reports; true: the job was sent the
  /// report that everything is handed out.
  std::map<task_id, bool> held_;
  iteration_losses losses_;  ///< the losses, as the job last reported them
  bool over_before_ = false; ///< see `iteration_view`
  bool has_read_ = false;    ///< a view of the job had a task from which this consumer reads
  bool empty_ = false;       ///< the repetition gave no element to any reader
  time_point asked_at_;
  time_point lease_until_; ///< when this reader's lease at the job expires, at the earliest
  time_point without_worker_since_;
  /// Since when the dispatcher has not answered, or is not connected.
  std::optional<time_point> unanswered_since_;
  time_point rows_came_at_;
  std::optional<time_point> waiting_since_; ///< since when the trainer waits for an element
  /// In the last view of the job no task was starting, and each shard had a task.
  bool told_everything_ = false;
  /// Entries of the dispatcher's list of workers that had no task in the last view of the job.
  std::vector<std::string> unserved_;
  /// `forgot_exhausted_`: some removed stream had ended as exhausted. `forgot_other_`: some removed
  /// stream had not.
  bool forgot_exhausted_ = false, forgot_other_ = false;
  /// True if a removed stream had ended without a reported outcome, so that its task may have had
  /// more elements.
  bool forgot_unread_ = false;
  /// The number of elements that were handed out from all removed streams.
  uint64_t forgot_handed_out_ = 0;
  status unreachable_;
  /// Total of elements that left the window before this trainer was handed them.
  uint64_t skipped_ = 0;
  uint64_t skips_reported_ = 0;
  /// Since when there are shards that no task reads, and whether the trainer was warned of them.
  std::optional<time_point> unserved_since_;
  bool unserved_reported_ = false;
  bool came_late_ = false; ///< the repetition was finished when the job first answered
  /// Numbers in the first answer of the job: elements of tasks that had ended, and lost tasks.
  uint64_t over_elements_ = 0, lost_tasks_ = 0;
  /// The proposed epoch for which the consumer waits; zero: none.
  uint64_t waits_for_epoch_ = 0;
  std::optional<time_point> incomplete_since_; ///< since when some seats are free
};

} // namespace headrace::detail
