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

/// What a consumer decides: reads one repetition of a job for a trainer. Keeps in touch with the
/// dispatcher, opens a stream to each task, grants credit as the trainer takes elements, gives back
/// what is recalled, and ends the handout when nothing is left or nothing can come.
///
/// Events and the time go in, commands come out. Knows no actor, thread, link or clock; the handout
/// is where it meets the trainer.
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
  /// An attempt to connect failed; others follow.
  commands dispatcher_unreached(const status& why, time_point now);
  /// The answer to `consume::ask`. A failure that is unavailable may pass.
  commands answered(uint64_t number, const result<iteration_view>& what, time_point now);
  /// There was no answer. `passes`: who had the question has ended, so that it is asked again.
  commands unanswered(uint64_t number, const status& why, bool passes, time_point now);
  /// The job says what has changed.
  commands told(const iteration_view& what, time_point now);
  /// The answer to the `consume::beat` of the time `at`.
  commands heartbeat_answered(const status& how, time_point at, time_point now);
  /// There was no answer to it.
  commands heartbeat_unanswered(const status& why);
  /// The answer to `consume::say_goodbye`.
  commands goodbye_answered(const status& how, time_point now);
  /// There was no answer to it.
  commands goodbye_unanswered(const status& why, time_point now);

  // -- the links to workers -------------------------------------------------------

  commands linked(const std::string& address, time_point now);
  commands not_linked(const std::string& address, const status& why, time_point now);
  /// The link under a task's stream is over.
  commands stream_cut(task_id task, const status& why, time_point now);
  /// Something came on a task's stream; a failure: it could not be read.
  commands arrived(task_id task, result<from_task> what, time_point now);

  // -- the trainer ------------------------------------------------------------------

  /// It took elements, or waits for some: the handout's marks are worth a look.
  commands trainer_moved(time_point now);
  /// It needs nothing more. What is left to do is to say so to the job, until `consume::quit`.
  commands trainer_leaves(time_point now);
  /// This consumer ends without a goodbye to its job. The last event.
  commands close_streams();

  // -- time -------------------------------------------------------------------------

  /// When to call `timer` at the latest.
  std::optional<time_point> next_deadline() const;
  commands timer(time_point now);

  /// As the job chose it, or the default before that.
  const lease_timing& timing() const noexcept { return timing_; }
  consumer_id id() const noexcept { return id_; }
  /// Streams of which something may still come: these share the credit.
  uint64_t live_streams() const;
  bool is_live(task_id task) const;
  /// The dispatcher has said which job it reads.
  bool knows_its_job() const noexcept { return known_; }
  /// The handout has its end.
  bool over() const noexcept { return failed_ || ended_; }

private:
  /// One task as this consumer reads it.
  struct stream {
    incarnation life;
    std::string address;
    bool open = false;   ///< there is a link under it
    bool served = false; ///< the task has said something on that link: it serves this consumer
    bool opened = false; ///< at least once
    bool ended = false;  ///< nothing more comes
    /// Why nothing comes, as the task said itself.
    std::optional<task_outcome> outcome;
    bool lost = false;    ///< its job gave it up
    bool named = false;   ///< the job names it among the tasks that run
    bool held = false;    ///< its rows may belong to others: they are not handed out
    bool leaving = false; ///< it gives what it has as fast as it may
    /// Of coordinated reads: it is not known yet with which element it begins.
    bool unplaced = false;
    stream_credit credit;
    claim_ahead claims;
    received_splits received; ///< that its rows come from
    uint64_t skipped = 0;     ///< as the task last said
    duration pause{};         ///< before the next attempt to connect
    std::optional<time_point> retry_at;
    std::optional<time_point> away_since; ///< its task does not serve this consumer
    status unreached;                     ///< why the last attempt failed, or what cut it off
  };

  /// This consumer reads from that task.
  bool reads(const task_address& task) const;
  /// Why it can read from no worker; ok: it may.
  status reads_nothing(const iteration_view& state) const;
  std::string no_local_worker() const;
  /// It waits for what tasks of others have, or give back.
  bool others_give() const;
  bool in_rounds() const noexcept { return options_.parameters.num_consumers != 0; }
  /// Where in the rounds the streams of a task begin, if that is known.
  std::optional<uint64_t> place_of(task_id task) const;
  void apply_rounds(const round_view& rounds, time_point now);
  /// There are consumers for all elements of a round; else why that is an error now.
  status missing_consumers(time_point now) const;
  void ask_anew(time_point now);
  void ask(time_point now);
  void not_told(const status& why, bool passes, time_point now);
  void apply(const iteration_view& state, time_point now);
  void beat(time_point now);
  /// This process may have been stopped for so long that its job gave it up meanwhile.
  void look_if_stopped(time_point now);
  void say_alive(time_point now);
  /// What was got of tasks that are lost is said to the job, until it has heard it.
  void account_for(const std::vector<task_id>& lost);
  /// Says at once what the job waits for: all of a task that is over was handed out.
  void look_at_held(time_point now);
  bool is_through(task_id task) const;
  void await_answer(time_point now);
  /// Where there is a connection; else as soon as there is one.
  void say_goodbye();
  void say_goodbye_later(time_point now);
  void quit();
  std::optional<time_point> goodbye_deadline() const;
  commands look_at_goodbye(time_point now);
  void open(task_id id, stream& s);
  void accept(task_id id, stream& s, stream_block in);
  /// So many elements of the task's output this trainer was too slow for.
  void note_skips(stream& s, uint64_t skipped);
  /// More of the stream may be handed out.
  void confirmed(task_id id, stream& s, uint64_t elements);
  void answer_recall(task_id id, stream& s, const stream_recall& what);
  void on_failed(task_id id, stream& s, const status& why, time_point now);
  /// What arrived cannot be read, and would be no better if it were sent again: the trainer reads
  /// why.
  void reject(task_id id, stream& s, const status& why);
  /// Nothing more is accepted from a task that its job gave up.
  void drop(task_id id, stream& s);
  /// There is something to be read from its task, or to be said to it, and no link to it.
  static bool needs_link(const stream& s);
  void reconnect(stream& s, time_point now);
  /// What the stream may send from here on, and how far we are.
  void grant(task_id id, stream& s, const handout::marks& marks, bool waiting);
  /// Grants anew where that is worth a message.
  void refill(bool always);
  /// How many bytes the trainer may take before that is worth a look.
  uint64_t quiet_bytes() const;
  void conclude();
  /// Nothing is left, and nothing will come, as all tasks say. Stands in for the job's word where
  /// the dispatcher cannot be asked.
  bool all_exhausted() const;
  void end();
  /// How long after the last sign of it this consumer may still count on its lease at the job.
  duration trust() const { return timing_.lease - timing_.lease / 5; }
  /// The rows of the stream are this consumer's own.
  bool owns(const stream& s, time_point now) const;
  /// Lets the handout give what is this consumer's own, and nothing else.
  void fence(time_point now);
  /// The job dropped this reader: what it was sent and did not hand out belongs to others.
  void give_up_all(const status& why);
  /// What the trainer reads where the dispatcher or the job does not know this reader any more.
  status not_a_reader(const status& why) const;
  /// Shares the credit among the streams that there are.
  void share_credit();
  void forget_ended();
  /// The bound on waiting that has passed; ok: none.
  status overdue(time_point now) const;
  /// `why`, and that the job may have given this reader up, where it may.
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
  first_contact contact_; ///< with the dispatcher, until it has said which job this is
  commands todo_;
  bool sends_graph_; ///< with its questions: a large one only when the service lacks it

  job_id job_;
  bool connected_ = false;                 ///< to the dispatcher
  bool known_ = false;                     ///< the dispatcher said which job it is
  bool finished_ = false;                  ///< the job is
  bool left_ = false;                      ///< the trainer did
  std::optional<leave_iteration> goodbye_; ///< that the job has not acknowledged
  time_point goodbye_until_;
  std::optional<time_point> goodbye_at_; ///< it is said again
  bool failed_ = false;                  ///< the trainer reads why, after what it has got
  bool ended_ = false;                   ///< well
  bool shared_ = false;
  uint64_t version_ = 0;
  iteration_view view_; ///< the latest, whole
  bool asked_ = false;  ///< a question is under way
  uint64_t asks_ = 0;   ///< counts the questions; only the last one's answer counts
  time_point asking_since_;
  duration ask_pause_{};
  std::optional<time_point> ask_at_;
  time_point said_at_;   ///< the newest heartbeat
  time_point looked_at_; ///< at the time, last
  /// Since this process went on after a stop, until the job says that it knows this reader still.
  std::optional<time_point> doubt_since_;
  lease_timing timing_;
  time_point beat_at_;
  std::map<task_id, stream> streams_;
  /// Lost tasks of which the job has not acknowledged the receipt, and the heartbeat that had it.
  std::map<task_id, std::optional<time_point>> receipts_due_;
  std::set<task_id> accounted_; ///< lost tasks
  /// Tasks that are over, and of which the job asks how far this consumer is; true: it was said
  /// that all is handed out.
  std::map<task_id, bool> held_;
  iteration_losses losses_;  ///< as the job last said
  bool over_before_ = false; ///< the job was over when this consumer asked
  bool has_read_ = false;    ///< from some task, or could
  bool empty_ = false;       ///< the repetition gave nothing to anybody
  time_point asked_at_;
  time_point lease_until_; ///< of this reader at its job, as far as is known
  time_point without_worker_since_;
  std::optional<time_point> unanswered_since_; ///< the dispatcher, or it is away
  time_point rows_came_at_;
  std::optional<time_point> waiting_since_; ///< the trainer, for an element
  /// No task was starting, and each shard had one, when the job last said how it is.
  bool told_everything_ = false;
  std::vector<std::string> unserved_; ///< entries of the dispatcher's list without a worker then
  /// Of streams that are forgotten: one was exhausted; one was not.
  bool forgot_exhausted_ = false, forgot_other_ = false;
  status unreachable_;
  uint64_t skipped_ = 0; ///< elements that this trainer was too slow for
  uint64_t warn_of_skips_at_ = 1;
  uint64_t waits_for_epoch_ = 0;               ///< not zero: that was proposed
  std::optional<time_point> incomplete_since_; ///< not as many consumers as rounds are shared by
};

} // namespace headrace
