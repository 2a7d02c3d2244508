#pragma once

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/stream/dealer.hpp"
#include "headrace/actors/task/done_marks.hpp"
#include "headrace/actors/task/split_log.hpp"
#include "headrace/actors/task/task_command.hpp"
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

namespace headrace {

/// How patient a task is, and how much it keeps.
struct task_limits {
  /// Answers with splits (24 bytes each) that are kept for a runner that replays them. With more
  /// none is kept, as to replay them would take about as long as they took.
  size_t most_splits = size_t{1} << 20;
};

/// What a task decides: deals what its runner produces to the streams that consumers opened, gets
/// splits for the runner, and says when it is through. Also the task's memory: what the pipeline
/// was given and gave, and who was dealt what. It outlives the actor, so that the next one goes on
/// where the last one was; used by one at a time.
///
/// Events and the time go in, commands come out. Knows no actor, thread, link or clock.
class task_core {
public:
  using commands = produce::commands;
  using stream_key = produce::stream_key;

  /// `output`: what becomes of its rows; null: its readers share them, each is for one of them.
  task_core(task_order order, dataset_ptr graph, task_limits limits, logger log,
            std::unique_ptr<dealer> output = {});

  /// An actor takes this over from one that died: all links are lost, and another runner goes on.
  commands taken_over(time_point now);

  // -- the runner -------------------------------------------------------------------

  /// What a runner needs to go on where the last one was.
  struct runner_start {
    split_log replay;       ///< what the task was given already
    bool leaving = false;   ///< nothing more is asked for
    uint64_t skip_rows = 0; ///< what earlier runners have given away
  };
  /// Life `run` of the runner begins. cancelled: the task is over.
  result<runner_start> runner_begins(uint64_t run);
  commands produced(uint64_t run, block rows, time_point now);
  /// It is done with splits. The job is told once the readers are, too.
  void run_done(const headrace::run_done& what);
  /// The pipeline came to its end, or could not be made.
  /// `by_itself`: its sources had more.
  commands run_ended(uint64_t run, const status& how, bool by_itself, time_point now);
  /// It waits for splits, or is done with a pass.
  commands splits_wanted(const headrace::splits_wanted& what, time_point now);
  /// The runner crashed; another one is being started.
  commands runner_crashed(const status& why, time_point now);
  /// There will be no other one.
  commands runner_spent(const status& why, time_point now);
  /// What the runner has not begun, as it leaves.
  commands runner_left(std::vector<unread_splits> unread, time_point now);

  // -- the job, by way of the worker ----------------------------------------------------

  /// The answer to what was wanted. What was closed is acknowledged by any answer.
  commands splits_answered(const split_question& which, const result<lease_answer>& what,
                           time_point now);
  /// The worker ends: finish what was begun, and give back the rest.
  commands worker_leaves(time_point now);
  /// Who reads has changed. What a consumer that is gone was sent and has not handed out goes to
  /// the others, as soon as it is sure not to hand it out any more.
  commands readers_named(const task_readers& who, time_point now);
  /// The same between two actors.
  void readers_named_between_actors(const task_readers& who) { name(who); }
  /// The job needs the task no more: its streams are told so.
  commands stop(const std::string& reason);
  /// The same between two actors: the next one comes to its end after what was begun.
  void leaves_between_actors() noexcept { leaving_ = true; }

  // -- the streams ------------------------------------------------------------------------

  /// A consumer said something. `over` is new with each `stream_open`.
  commands arrived(stream_key over, const result<from_consumer>& what, time_point now);
  /// The link under a stream is over.
  commands stream_cut(stream_key over, time_point now);
  /// There may be room again for what others held back.
  commands room_came(time_point now);
  /// `call` is called, from any thread, when `room_came` is due. May be empty.
  void when_room_comes(std::function<void()> call) { output_->when_there_is_room(std::move(call)); }
  /// A row cannot be sent as it is too large.
  commands cannot_send(const status& why, time_point now);
  /// Stops for good because of `why`, as its actor died once too often: says so to all streams.
  commands give_up(const status& why);

  // -- time -------------------------------------------------------------------------------

  std::optional<time_point> next_deadline() const;
  commands timer(time_point now);

  // -- state --------------------------------------------------------------------------------

  const task_order& order() const noexcept { return order_; }
  const dataset_ptr& graph() const noexcept { return graph_; }
  bool over() const noexcept { return over_; }
  bool leaving() const noexcept { return leaving_; }
  /// An actor died in the midst of an event, and no other can go on.
  bool torn() const noexcept { return torn_; }
  /// Streams that were opened for a reader from another node than the one its job names.
  uint64_t refused_streams() const noexcept { return refused_; }
  task_numbers numbers() const;
  /// Elements that the pipeline left out: counted on the runner's threads, also while it gives no
  /// rows.
  const std::shared_ptr<std::atomic<uint64_t>>& ignored() const noexcept { return ignored_; }

private:
  /// The way to one consumer.
  struct route {
    stream_key over;     ///< zero: the link is lost
    time_point cut_at{}; ///< when it was
    /// The job does not name it any more. It was asked how far it is, and has until then to answer.
    std::optional<time_point> gone_until;
  };
  /// A consumer that the job has not named yet.
  struct stranger {
    stream_open wanted;
    time_point until;                  ///< when it is refused
    std::optional<stream_grant> grant; ///< what it granted meanwhile
  };

  void open(stream_key over, const stream_open& what, time_point now);
  void admit(stream_key over, const stream_open& what, time_point now);
  void granted(consumer_id who, const stream_grant& what);
  /// The job names the node of a link for each of its readers: nobody else speaks for them.
  bool is_from_its_node(const stream_open& what) const;
  void refuse(stream_key over, const stream_open& what);
  void name(const task_readers& who);
  bool is_named(consumer_id who) const;
  /// How long after a link was cut its other end has noticed, too, and hands out nothing more.
  duration fence() const { return order_.lease + order_.lease / 4; }
  /// When the rows of a consumer that is gone may go to others.
  time_point free_at(const route& of) const { return of.cut_at + fence(); }
  /// Asks consumers that are gone how far they are, and gives up those that cannot answer any more.
  void look_at_the_gone(time_point now);
  /// Says to the job what the readers were given, once those that are gone are let go of.
  void account(time_point now);
  /// Lets go of those that left in order, and gives what they had not handed out to the others.
  void let_depart();
  void look_at_strangers(time_point now);
  void from_stranger(stream_key over, const from_consumer& what);
  task_outcome outcome() const { return whole_ ? task_outcome::exhausted : task_outcome::left; }
  void leave(consumer_id who);
  /// It is gone and did not say how far it is.
  void give_up(consumer_id who);
  /// The way to a consumer is another one, or zero.
  void move(consumer_id who, stream_key over);
  /// Can another runner go on where one broke off because of `why`? The reason if it cannot.
  status can_run_on(const status& why) const;
  void start_runner(time_point now);
  void fail(const status& why, time_point now);
  void finish(time_point now);
  /// Sends what may be sent, and looks whether that was all.
  void deal(time_point now);
  void report(time_point now, std::optional<headrace::splits_wanted> wants = {},
              std::optional<status> ended = {}, task_outcome outcome = task_outcome::exhausted,
              std::map<consumer_id, reader_marks> held = {});
  bool leases_splits() const noexcept { return order_.policy == sharding_policy::dynamic; }
  template <class Command>
  void then(Command what) {
    todo_.emplace_back(std::move(what));
  }
  /// Does `f`, an event. If it throws, this stays torn.
  template <class F>
  commands event(F&& f) {
    torn_ = true;
    f();
    torn_ = false;
    return std::exchange(todo_, {});
  }

  task_order order_;
  dataset_ptr graph_;
  task_limits limits_;
  logger log_;
  commands todo_;

  std::unique_ptr<dealer> output_;
  done_marks done_;
  split_log splits_;
  bool replayable_ = true; ///< `splits_` holds all that the task was given
  task_numbers numbers_;   ///< without `ignored`
  std::shared_ptr<std::atomic<uint64_t>> ignored_ = std::make_shared<std::atomic<uint64_t>>(0);
  std::map<consumer_id, route> routes_;
  std::map<stream_key, consumer_id> owners_; ///< of the streams in `routes_` that have a link
  std::map<stream_key, stranger> strangers_;
  task_readers readers_;
  uint64_t refused_ = 0;   ///< streams, opened from other nodes than their readers'
  bool opened_ = false;    ///< the pipeline runs or has run
  bool exhausted_ = false; ///< the pipeline came to its end
  bool whole_ = false;     ///< and not because the task leaves
  bool by_itself_ = false; ///< it did before its sources were exhausted
  bool leaving_ = false;
  bool over_ = false;
  bool torn_ = false;

  uint64_t run_ = 0;
  bool runs_ = false;               ///< a runner was begun by this actor
  std::set<split_question> asked_;  ///< the present runner waits for these
  std::set<split_question> closed_; ///< by any runner, and not acknowledged
  size_t taken_from_runner_ = 0;
  /// Rows are recalled then if nothing was produced: a trainer waits.
  std::optional<time_point> dry_at_;
  time_point reported_{};
  bool report_due_ = false; ///< something was dealt since
  /// Readers are gone that did not say what they got: the job is to know it, as soon as what they
  /// held is with the others.
  bool account_due_ = false;
  bool account_said_ = false; ///< and not acknowledged
};

} // namespace headrace
