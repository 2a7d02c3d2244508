#pragma once

#include "headrace/actors/worker/rate_window.hpp"
#include "headrace/actors/worker/save_work.hpp"
#include "headrace/actors/worker/worker_command.hpp"

#include <map>
#include <optional>
#include <string>

namespace headrace::detail {

struct worker_core_options {
  worker_info self;       ///< its id is zero until a dispatcher gives one
  std::string dispatcher; ///< `host:port`, for messages to users
  /// The time limit of a drain, in which the tasks send consumers the elements of the splits that
  /// they have begun.
  duration drain = std::chrono::milliseconds{500};
  /// The number of stuck threads with which the worker cannot continue; 0: it always continues.
  size_t most_stuck = 0;
  /// The interval of heartbeats; unset: that of the dispatcher. If the interval is longer than half
  /// of the dispatcher's lease, that half is used, and a warning is logged.
  std::optional<duration> heartbeat = {};
  /// How long the dispatcher may leave messages unanswered before the worker gives up; unset:
  /// without limit. A refusal is an answer.
  std::optional<duration> dispatcher_timeout = {};
};

/// The core of a worker. It registers with its dispatcher, sends heartbeats, starts and stops tasks
/// as ordered, repeats the questions and the reports of ended tasks until they are answered, and
/// leaves in steps. It is given events with the time, and returns commands. It uses no actor and no
/// clock. Of each task it keeps only the order and the progress.
///
/// Commands are carried out in their order. An event that happens while they are carried out may be
/// given to the core at once; its commands are carried out after those that wait.
class worker_core {
public:
  using commands = worker::commands;

  /// The steps of leaving, in their order. Steps may be left out.
  enum class step : uint8_t {
    staying,
    draining, ///< tasks finish the splits that they have begun, and their ends are reported
    /// The dispatcher is informed, so that jobs need not wait for the worker's lease to expire.
    saying_goodbye,
    gone, ///< the command `left` was returned
  };

  explicit worker_core(worker_core_options options);

  // -- the dispatcher --------------------------------------------------------------------

  /// The worker begins to connect to its dispatcher. To be called once, before all other events;
  /// without this event the worker does not give up before the first connection.
  commands started(time_point now);
  /// A connection to a dispatcher was made.
  commands dispatcher_up(time_point now);
  /// The connection is lost; the actor makes another one.
  commands dispatcher_down(const status& why, time_point now);
  /// An attempt to connect failed. The same reason is not logged twice in a row.
  commands dispatcher_unreached(const status& why);
  /// The answer WorkerRegistered. A failure: the registration failed or was not answered in time.
  /// `over`: the number of the connection in the command; events of earlier connections have no
  /// effect.
  commands registered(uint64_t over, const result<worker_registered>& what, time_point now);
  /// The answer to WorkerHeartbeat: the tasks that no job needs, and whether the worker is to
  /// leave. A failure: the heartbeat was not answered in time, or the dispatcher has no record of
  /// the worker. `over`: as in `registered`.
  commands heartbeat_answered(uint64_t over, const result<heartbeat_heard>& what, time_point now);

  // -- orders ----------------------------------------------------------------------------

  /// StartTask, which may be repeated: a task that exists is unchanged, and its unanswered
  /// questions and end are sent again, because the job may have lost them. A new task is refused as
  /// unavailable while the worker leaves, or while one more stuck thread would be too many.
  commands start_task(request_token from, const task_order& what, time_point now);
  /// StopTask. The answer is ok, even if there is no such task.
  commands stop_task(request_token from, task_id id, const std::string& reason);
  /// TaskReaders: the readers of a task. not_found: there is no such task.
  commands name_readers(request_token from, const task_readers& who);

  // -- tasks -----------------------------------------------------------------------------

  /// `run_task` was carried out: the task is supervised, or cannot be run.
  commands task_taken(task_id id, const status& how);
  /// An actor runs the task: the first one, or a further one after a crash.
  void task_running(task_id id);
  /// A report of a task, from within the process.
  commands task_reported(const worker::task_news& what, time_point now);
  /// A task's actor ended; ok: normally. `torn`: it ended inside an event, and may have left the
  /// task half changed, so no other actor can continue. `made`: the output of the task so far.
  commands task_down(task_id id, const status& why, bool torn, const worker::task_counts& made);
  /// A task's actors crashed too often.
  commands task_given_up(task_id id, const status& why, const worker::task_counts& made);

  // -- splits and ends -------------------------------------------------------------------

  /// The answer to LeaseSplits: SplitsLeased, ok for a closed pass or an account, or a failure.
  /// `unavailable` counts as no answer. Only the answer to a question's last request has an effect.
  commands splits_answered(task_id id, uint64_t ask, const result<lease_answer>& what);
  /// LeaseSplits was not answered. `deadline_exceeded`: there was no answer within the limit.
  commands splits_unanswered(task_id id, uint64_t ask, const status& why);
  /// The answer to TaskEnded. `unavailable` counts as no answer.
  commands end_acknowledged(task_id id, const status& how);
  /// TaskEnded was not answered.
  commands end_unanswered(task_id id, const status& why);

  // -- saves -----------------------------------------------------------------------------

  /// The dispatcher has announced that there are steps of saves.
  commands saves_offered();
  /// The answer SaveSteps. A failure: there was no answer. `over`: as in `registered`.
  commands save_steps_answered(uint64_t over, const result<save_steps>& what);
  /// The step of `run_save` has ended.
  commands save_step_ended(save_report how);

  // -- leaving ---------------------------------------------------------------------------

  /// The owner of the worker ends it. `at_once`: the whole service ends, so the worker waits for
  /// nothing. A worker that is leaving already, because its dispatcher ordered that, continues to
  /// leave in order, unless `at_once` is true.
  commands leave(bool at_once, time_point now);
  /// LeaveService was answered, or the limit has passed.
  commands goodbye_over();

  // -- time ------------------------------------------------------------------------------

  /// When `timer` must be called; nullopt: not before another event.
  std::optional<time_point> next_deadline() const;
  /// The time of `next_deadline` has come. A call before that time does nothing.
  commands timer(time_point now);
  /// The result of `count_stuck`.
  commands stuck_counted(size_t stuck);

  step leaving() const noexcept { return step_; }
  /// Zero until a dispatcher has given the worker an id.
  worker_id id() const noexcept { return self_.id; }

private:
  /// A question, a closed pass or an account of a task that the job has not answered.
  struct question {
    splits_wish what;
    uint64_t ask = 0;   ///< the number of its last request; 0: none was sent
    bool again = false; ///< the last request was lost
  };
  struct task {
    task_order order;
    /// The request that ordered the task, until the request is answered.
    std::optional<request_token> ordered_by;
    bool running = false;       ///< false while no actor runs the task
    worker::task_counts counts; ///< as the task last reported
    rate_window rate;           ///< the rate of its elements
    /// The questions that the job has not answered yet.
    std::map<split_question, question> asked;
    uint64_t asks = 0; ///< number of requests
    /// Set if the task leaves: the splits that it gives back.
    std::optional<std::vector<unread_splits>> unread;
    // These messages may be lost with the task's actor if it crashes, and are then repeated:
    std::optional<task_readers> readers; ///< the readers that were named last, after the order
    std::optional<std::string> stops;    ///< the reason why the task is to stop
  };

  void stop(task_id id, const std::string& reason, commands& out);
  void name(task& of, const task_readers& who, commands& out);
  /// Repeats, for the next actor, the messages that the crashed actor may not have handled.
  void repeat_orders(const task& of, commands& out) const;
  task* find(task_id id) noexcept;
  /// The question to which that request belongs, if the request is the last one for the question
  /// and is not answered yet.
  question* waiting(task_id id, uint64_t ask) noexcept;
  void ask(task& of, question& what, commands& out);
  void ask_all(task& of, commands& out);
  void lost_ask(task_id id, uint64_t ask) noexcept;
  void beat(time_point now, commands& out);
  bool has_said_goodbye() const noexcept { return step_ > step::draining; }
  /// True if one more stuck thread would be too many.
  bool refuses_tasks() const noexcept;
  status why_stuck() const;
  /// When the worker gives up on its dispatcher, unless the dispatcher answers before.
  std::optional<time_point> patience_over() const;
  void give_up_dispatcher(commands& out);
  void say_end(task_id id, commands& out) const;
  void ended(const worker::task_news& what, commands& out);
  void give_up(task_id id, const status& why, const worker::task_counts& made, commands& out);
  void begin_to_leave(time_point now, commands& out);
  void drain_over(commands& out);
  void look_if_left(commands& out);
  void ask_for_saves(commands& out);
  void say_goodbye(commands& out, size_t unfinished = 0);
  void go(commands& out);

  worker_info self_;
  std::string dispatcher_;
  duration drain_;
  size_t most_stuck_;
  std::optional<duration> heartbeat_;
  std::optional<duration> dispatcher_timeout_;
  lease_timing timing_;
  bool up_ = false;
  uint64_t connection_ = 0;      ///< the number of the present connection to the dispatcher
  uint64_t registered_over_ = 0; ///< the connection over which the worker registered last
  status unreached_;             ///< the reason why connecting failed, or registering got no answer
  /// The time at which the worker began to connect, or lost the last connection on which the
  /// dispatcher answered its registration; unset: the dispatcher has answered on the present one.
  std::optional<time_point> unheard_since_;
  bool gave_up_ = false; ///< the worker has given up on the dispatcher
  /// The refusal of the last registration because of another worker or the dispatcher's list.
  status refused_;
  std::map<task_id, task> tasks_;
  std::map<task_id, task_end> unheard_ends_;
  save_work saves_;
  step step_ = step::staying;
  bool asked_ = false;     ///< the owner of the worker has called `leave`
  bool first_beat_ = true; ///< no heartbeat was sent since the worker registered
  size_t stuck_ = 0;       ///< the number of stuck threads at the last count
  bool told_stuck_ = false;
  std::optional<time_point> beat_at_;
  time_point drain_at_{}; ///< while draining: when the drain ends
};

} // namespace headrace::detail
