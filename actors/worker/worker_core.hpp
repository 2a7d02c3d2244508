#pragma once

#include "headrace/actors/worker/rate_window.hpp"
#include "headrace/actors/worker/save_work.hpp"
#include "headrace/actors/worker/worker_command.hpp"

#include <map>
#include <optional>
#include <string>

namespace headrace {

struct worker_core_options {
  worker_info self;       ///< its id is zero until a dispatcher gives one
  std::string dispatcher; ///< `host:port`, for messages to people
  /// How long the worker may take to give what its tasks have begun to their consumers.
  duration drain = std::chrono::milliseconds{500};
  /// With so many stuck threads the worker cannot go on; 0: it always does.
  size_t most_stuck = 0;
  /// How often it speaks to its dispatcher; unset: as that asks for. Where it would be more than
  /// half of the dispatcher's lease it is that half, and a warning says so.
  std::optional<duration> heartbeat = {};
  /// For how long its dispatcher may not answer before the worker gives up; unset: for ever. Who
  /// refuses the worker has answered.
  std::optional<duration> dispatcher_timeout = {};
};

/// What a worker decides: registers with its dispatcher, says that it lives, takes and stops tasks
/// as it is ordered, passes their questions and ends on until they are answered, and leaves in
/// steps. Events and the time go in, commands come out. Knows no actor and no clock, and of a task
/// only its order and how far it is.
///
/// Commands are carried out in their order. An event that comes up meanwhile may be given to the
/// core at once; its commands are carried out after those that are waiting.
class worker_core {
public:
  using commands = worker::commands;

  /// The steps of leaving. Each comes after the one before it, or is left out.
  enum class step : uint8_t {
    staying,
    draining,       ///< tasks finish what they have begun; their ends are told
    saying_goodbye, ///< the dispatcher is told that nobody need wait for the worker's lease
    gone,           ///< `left` was commanded
  };

  explicit worker_core(worker_core_options options);

  // -- the dispatcher --------------------------------------------------------------------

  /// The worker begins to look for its dispatcher. Once, before all else; without it nobody is
  /// given up before the first connection.
  commands started(time_point now);
  /// The connection to a dispatcher is there.
  commands dispatcher_up(time_point now);
  /// The connection is lost, and looked for again.
  commands dispatcher_down(const status& why, time_point now);
  /// An attempt to connect failed. Each reason is logged once in a row.
  commands dispatcher_unreached(const status& why);
  /// WorkerRegistered, or why the registration failed or was not answered in time. `over`: the
  /// connection that the command named; what concerns an earlier one changes nothing.
  commands registered(uint64_t over, const result<worker_registered>& what, time_point now);
  /// The answer to WorkerHeartbeat, which names the tasks that no job needs, and may say that the
  /// worker is to leave; or why there was none in time. `over`: as above.
  commands heartbeat_answered(uint64_t over, const result<heartbeat_heard>& what, time_point now);

  // -- orders ----------------------------------------------------------------------------

  /// StartTask. May be repeated: a task that is here stays as it is, and what may have been lost
  /// with its job's memory (a question, an end) is said again. A new one is unavailable while the
  /// worker leaves, and while one more stuck thread would be too many.
  commands start_task(request_token from, const task_order& what, time_point now);
  /// StopTask. Ok, also if there is no such task.
  commands stop_task(request_token from, task_id id, const std::string& reason);
  /// TaskReaders: who reads a task. not_found if there is no such task.
  commands name_readers(request_token from, const task_readers& who);

  // -- tasks -----------------------------------------------------------------------------

  /// `run_task` is carried out: the task is supervised, or cannot be run.
  commands task_taken(task_id id, const status& how);
  /// An actor runs the task: the first one, or another after one that crashed.
  void task_running(task_id id);
  /// A task's report (in the process).
  commands task_reported(const worker::task_news& what, time_point now);
  /// A task's actor ended; ok: normally. `torn`: in the midst of a change of what is kept of the
  /// task, so no other can go on. `made` is what the task had produced.
  commands task_down(task_id id, const status& why, bool torn, const worker::task_counts& made);
  /// A task's actors crashed too often.
  commands task_given_up(task_id id, const status& why, const worker::task_counts& made);

  // -- splits and ends -------------------------------------------------------------------

  /// SplitsLeased, ok for what was closed, or the failure that answered LeaseSplits. Only the
  /// answer to the last request of a question counts.
  commands splits_answered(task_id id, uint64_t ask, const result<lease_answer>& what);
  /// No answer came to LeaseSplits. `deadline_exceeded`: within the limit.
  commands splits_unanswered(task_id id, uint64_t ask, const status& why);
  /// The answer to TaskEnded. `unavailable` is none.
  commands end_acknowledged(task_id id, const status& how);
  /// No answer came to TaskEnded.
  commands end_unanswered(task_id id, const status& why);

  // -- saves -----------------------------------------------------------------------------

  /// The dispatcher has steps of saves.
  commands saves_offered();
  /// SaveSteps, or why there was no answer. `over`: as above.
  commands save_steps_answered(uint64_t over, const result<save_steps>& what);
  /// `run_save` came to an end.
  commands save_step_ended(save_report how);

  // -- leaving ---------------------------------------------------------------------------

  /// Who runs the worker ends it. `at_once`: the whole service does, so nothing is waited for. One
  /// that leaves already, as its dispatcher wanted, goes on with that, and has left as it will.
  commands leave(bool at_once, time_point now);
  /// LeaveService is answered, or was not in time.
  commands goodbye_over();

  // -- time ------------------------------------------------------------------------------

  /// When `timer` is to be called; none: not before another event.
  std::optional<time_point> next_deadline() const;
  /// The time has come. A call that is too early does nothing.
  commands timer(time_point now);
  /// What `count_stuck` counted.
  commands stuck_counted(size_t stuck);

  step leaving() const noexcept { return step_; }
  /// Zero until a dispatcher gave one.
  worker_id id() const noexcept { return self_.id; }
  bool has_task(task_id id) const noexcept { return tasks_.contains(id); }

private:
  /// What a task asks, or closed, and its job has not answered.
  struct question {
    splits_wish what;
    uint64_t ask = 0;   ///< of its last request; 0: there was none
    bool again = false; ///< that one was lost
  };
  struct task {
    task_order order;
    std::optional<request_token> ordered_by;          ///< not answered yet
    bool running = false;                             ///< false between two lives
    worker::task_counts counts;                       ///< as the task last said
    rate_window rate;                                 ///< of its elements
    std::map<split_question, question> asked;         ///< they are with the job
    uint64_t asks = 0;                                ///< counts the requests
    std::optional<std::vector<unread_splits>> unread; ///< it leaves, and gives these back
  };

  void stop(task_id id, const std::string& reason, commands& out);
  task* find(task_id id) noexcept;
  /// The question of that request, if it waits for the answer to that.
  question* waiting(task_id id, uint64_t ask) noexcept;
  void ask(task& of, question& what, commands& out);
  void ask_all(task& of, commands& out);
  void lost_ask(task_id id, uint64_t ask) noexcept;
  void beat(time_point now, commands& out);
  bool has_said_goodbye() const noexcept { return step_ > step::draining; }
  /// One more stuck thread would be too many.
  bool refuses_tasks() const noexcept;
  status why_stuck() const;
  /// When the worker gives up, as things stand.
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
  uint64_t connection_ = 0;                 ///< to the dispatcher, counted
  status unreached_;                        ///< why the last attempt to connect failed
  std::optional<time_point> unheard_since_; ///< that the dispatcher has not answered; unset: it did
  bool gave_up_ = false;                    ///< on the dispatcher
  status refused_; ///< the last answer to a registration, if others have its place
  std::map<task_id, task> tasks_;
  std::map<task_id, task_end> unheard_ends_;
  save_work saves_;
  step step_ = step::staying;
  bool asked_ = false;     ///< to leave, by who runs it
  bool first_beat_ = true; ///< since it registered
  size_t stuck_ = 0;       ///< threads, when they were last counted
  bool told_stuck_ = false;
  std::optional<time_point> beat_at_;
  time_point drain_at_{}; ///< draining: when it ends
};

} // namespace headrace
