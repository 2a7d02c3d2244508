#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/stream/dealer.hpp"
#include "headrace/actors/task/done_marks.hpp"
#include "headrace/actors/task/split_log.hpp"
#include "headrace/actors/task/task_command.hpp"
#include "headrace/actors/task/task_profile.hpp"
#include "headrace/actors/task_limits.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace headrace::detail {

/// The core of a task. It deals the rows that the runner produces to the streams of consumers, gets
/// splits for the runner, and reports when the task ends. It also keeps the state of the task:
/// which splits the pipeline was given, what it produced, and which consumer was dealt which rows.
/// It outlives the actor, so that the next actor continues; one actor uses it at a time.
///
/// It is given events with the time, and returns commands. It uses no actor, thread, link or clock.
class task_core {
public:
  using commands = produce::commands;
  using stream_key = produce::stream_key;

  /// `output`: the dealer of the task's rows. If it is null, a `task_output` is used, which
  /// divides the rows among the readers.
  task_core(task_order order, dataset_ptr graph, task_limits limits, logger log,
            std::unique_ptr<dealer> output = {});

  /// An actor takes over: the first one, or one after a crash. The links of an earlier actor are
  /// lost. A runner is started if one had run before, or if the task may lease splits at once.
  commands taken_over(time_point now);

  // -- the runner -------------------------------------------------------------------

  /// The state that a runner needs in order to continue where the previous one stopped.
  struct runner_start {
    split_log replay;       ///< the answers that earlier runners had
    bool leaving = false;   ///< the runner sends no questions
    uint64_t skip_rows = 0; ///< the number of rows that earlier runners have passed on
  };
  /// The runner with the number `run` begins. cancelled: the task is over.
  result<runner_start> runner_begins(uint64_t run);
  commands produced(uint64_t run, block rows, time_point now);
  /// The runner no longer needs certain splits. The job is informed when the readers have handed
  /// out the rows of these splits.
  void run_done(const detail::run_done& what);
  /// The pipeline reached its end, or could not be made. `by_itself`: its sources were not
  /// exhausted.
  commands run_ended(uint64_t run, const status& how, bool by_itself, time_point now);
  /// The runner waits for splits, or has closed a pass.
  commands splits_wanted(const detail::splits_wanted& what, time_point now);
  /// The runner crashed; another one is being started.
  commands runner_crashed(const status& why, time_point now);
  /// The runner crashed, and will not be restarted.
  commands runner_spent(const status& why, time_point now);
  /// The splits that the runner has not begun, after `leave_runner`.
  commands runner_left(std::vector<unread_splits> unread, time_point now);

  // -- the job, by way of the worker ----------------------------------------------------

  /// The answer to a question, or to the report of a closed pass, which any answer acknowledges.
  commands splits_answered(const split_question& which, const result<lease_answer>& what,
                           time_point now);
  /// The worker leaves: the task finishes the splits that were begun, and gives back the others.
  commands worker_leaves(time_point now);
  /// The readers have changed. If a reader is gone, the rows that it was sent and has not handed
  /// out go to the others, as soon as the reader can no longer hand them out.
  commands readers_named(const task_readers& who, time_point now);
  /// As `readers_named`, while no actor runs the task.
  void readers_named_between_actors(const task_readers& who) { name(who); }
  /// The job no longer needs the task: its streams end with the outcome `stopped`.
  commands stop(const std::string& reason);
  /// As `worker_leaves`, while no actor runs the task.
  void leaves_between_actors() noexcept { leave_due_ = !leaving_; }

  // -- the streams ------------------------------------------------------------------------

  /// A message of a consumer arrived. `over` is new with each `stream_open`.
  commands arrived(stream_key over, const result<from_consumer>& what, time_point now);
  /// The link of a stream is closed.
  commands stream_cut(stream_key over, time_point now);
  /// Other dealers may have freed memory.
  commands room_came(time_point now);
  /// `call` is called, from any thread, when `room_came` is due. May be empty.
  void when_room_comes(std::function<void()> call) { output_->when_there_is_room(std::move(call)); }
  /// A row is too large to be sent.
  commands cannot_send(const status& why, time_point now);
  /// The task stops for good because of `why`, as its actor crashed too often. `why` is sent on
  /// all streams.
  commands give_up(const status& why);

  // -- time -------------------------------------------------------------------------------

  std::optional<time_point> next_deadline() const;
  commands timer(time_point now);

  // -- state --------------------------------------------------------------------------------

  const task_order& order() const noexcept { return order_; }
  const dataset_ptr& graph() const noexcept { return graph_; }
  bool over() const noexcept { return over_; }
  bool leaving() const noexcept { return leaving_; }
  /// True if an actor crashed inside an event: this object may be half changed, and is unusable.
  bool torn() const noexcept { return torn_; }
  task_numbers numbers() const;
  /// The number of error rows that the pipeline has left out. They are counted on the runner's
  /// threads, even while the pipeline produces no rows.
  const std::shared_ptr<std::atomic<uint64_t>>& ignored() const noexcept { return ignored_; }
  /// The activity of the operators of the present runner's pipeline.
  const std::shared_ptr<task_profile>& profile() const noexcept { return profile_; }

private:
  /// The connection to one consumer.
  struct route {
    stream_key over;     ///< zero if the link is closed
    time_point cut_at{}; ///< when the link was closed
    /// Set if the job no longer names the consumer and its link is open: the task has sent
    /// `stream_failed`, and the consumer is to report how many elements it has handed out, and to
    /// leave. At this time the task closes the link.
    std::optional<time_point> gone_until;
  };
  /// A consumer that opened a stream and that the job has not named yet.
  struct stranger {
    stream_open wanted;
    time_point until;                  ///< the time at which its stream is refused
    std::optional<stream_grant> grant; ///< its last grant
  };

  void open(stream_key over, const stream_open& what, time_point now);
  void admit(stream_key over, const stream_open& what, time_point now);
  void granted(consumer_id who, const stream_grant& what);
  /// True if the message came from the node that the job names for this consumer, or if the job
  /// names none.
  bool is_from_its_node(const stream_open& what) const;
  void refuse(stream_key over, const stream_open& what);
  void name(const task_readers& who);
  bool is_named(consumer_id who) const;
  /// The time after the loss of a link until the consumer at the other end has noticed the loss,
  /// too, and hands out nothing more.
  duration fence() const { return fenced(order_.lease); }
  /// When the rows of a consumer that is gone may go to others.
  time_point free_at(const route& of) const { return of.cut_at + fence(); }
  /// Requests reports from consumers that are gone, and gives up those that can no longer answer.
  void look_at_the_gone(time_point now);
  /// Sends the job an account, once the readers that are gone have been removed.
  void account(time_point now);
  /// Removes the readers that left in order, and gives the others the rows that they had not handed
  /// out.
  void let_depart();
  void look_at_strangers(time_point now);
  void from_stranger(stream_key over, const from_consumer& what);
  task_outcome outcome() const { return whole_ ? task_outcome::exhausted : task_outcome::left; }
  void leave(consumer_id who);
  /// The consumer is gone and did not report its position.
  void give_up(consumer_id who);
  /// The consumer has a new connection, or none.
  void move(consumer_id who, stream_key over);
  /// Not ok: the reason why no further runner can continue after a crash with the error `why`.
  status can_run_on(const status& why) const;
  void start_runner(time_point now);
  void fail(const status& why, time_point now);
  /// The splits that the task was leased and has not begun, including those in an answer that may
  /// still arrive. To be called while no runner reads.
  std::vector<unread_splits> unread_without_runner() const;
  void left(std::vector<unread_splits> unread, time_point now);
  void report_unread();
  void finish(time_point now);
  /// Keeps the commands of the event that ended the task.
  void keep_last();
  /// Sends the messages that the dealer returns, and checks whether the task has ended.
  void deal(time_point now);
  void report(time_point now, std::optional<detail::splits_wanted> wants = {},
              std::optional<status> ended = {}, task_outcome outcome = task_outcome::exhausted,
              std::map<consumer_id, reader_marks> held = {});
  bool leases_splits() const noexcept { return order_.policy == sharding_policy::dynamic; }
  template <class Command>
  void then(Command what) {
    todo_.emplace_back(std::move(what));
  }
  /// Calls `f`, which handles an event. If `f` throws, the task stays torn, whatever follows.
  template <class F>
  commands event(F&& f) {
    const bool was_torn = std::exchange(torn_, true);
    const bool was_over = over_;
    f();
    if (over_ && !was_over)
      keep_last();
    torn_ = was_torn;
    return std::exchange(todo_, {});
  }

  task_order order_;
  dataset_ptr graph_;
  task_limits limits_;
  logger log_;
  commands todo_;
  /// The last commands of a task that is over: messages, reports and the end. The next actor gets
  /// them again if this one crashes before it has carried them out.
  commands last_;

  std::unique_ptr<dealer> output_;
  done_marks done_;
  split_log splits_;
  bool replayable_ = true; ///< `splits_` has all answers that the task was given
  task_numbers numbers_;   ///< without `ignored`
  std::shared_ptr<std::atomic<uint64_t>> ignored_ = std::make_shared<std::atomic<uint64_t>>(0);
  std::shared_ptr<task_profile> profile_ = std::make_shared<task_profile>();
  std::map<consumer_id, route> routes_;
  std::set<consumer_id> unnamed_;            ///< those in `routes_` that the job does not name
  std::map<stream_key, consumer_id> owners_; ///< only of streams with a link
  std::map<stream_key, stranger> strangers_;
  task_readers readers_;
  /// The number of refused streams: they came from other nodes than those of their readers.
  uint64_t refused_ = 0;
  bool opened_ = false;    ///< the pipeline runs or has run
  bool exhausted_ = false; ///< the pipeline has ended
  bool whole_ = false;     ///< the pipeline has ended, and not because the task leaves
  bool by_itself_ = false; ///< the pipeline has ended before its sources were exhausted
  bool leaving_ = false;
  bool over_ = false;
  bool torn_ = false;

  uint64_t run_ = 0;
  /// The worker leaves, and the splits that are not begun are not given back yet. If another actor
  /// takes over, it is to give them back.
  bool leave_due_ = false;
  /// The splits that the task had not begun when it left.
  std::vector<unread_splits> unread_;
  bool runs_ = false;               ///< this actor has begun a runner
  std::set<split_question> asked_;  ///< questions that the present runner waits for
  std::set<split_question> closed_; ///< passes that any runner has closed, not acknowledged yet
  size_t taken_from_runner_ = 0;
  /// When rows will be recalled for a waiting trainer if the runner produces nothing until then.
  std::optional<time_point> dry_at_;
  time_point reported_{};
  bool report_due_ = false; ///< something was dealt since the last report
  /// Readers are gone that did not report their positions: an account is sent when their rows are
  /// dealt to others.
  bool account_due_ = false;
  bool account_said_ = false; ///< an account was sent and is not acknowledged
};

} // namespace headrace::detail
