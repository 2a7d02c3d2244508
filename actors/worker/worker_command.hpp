#pragma once

#include "headrace/actors/log_line.hpp"
#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/request_token.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::worker {

// -- what a task says to its worker -----------------------------------------------------

/// How far a task is.
struct task_counts {
  task_output_counts made;
  uint32_t streams = 0;
  uint32_t restarts = 0;                   ///< of its runner
  std::optional<cache_report> window = {}; ///< of a job with a cross-trainer cache
  friend bool operator==(const task_counts&, const task_counts&) = default;
};

/// A task's report to its worker.
struct task_news {
  task_id id;
  incarnation life;
  job_id job;
  task_counts counts;
  std::optional<splits_wish> wants; ///< the task waits for the answer
  std::optional<status> ended;      ///< the task is through, well or not
  task_outcome outcome = task_outcome::exhausted;
  /// The task leaves, and has not begun to read these.
  std::optional<std::vector<unread_splits>> unread;
  /// The task is exhausted, and its pipeline came to its end before its sources did.
  bool by_itself = false;
  /// Of a shared job: readers that have rows which they did not hand out.
  std::map<consumer_id, reader_marks> held = {};
};

// -- commands -----------------------------------------------------------------------------

/// Answer a request of a job or a dispatcher: ok, or a failure.
struct answer {
  request_token to;
  status how;
};

/// Send RegisterWorker to the dispatcher. `worker_core::registered` takes the answer, or why there
/// was none within `limit`, with the number of this connection.
struct register_here {
  uint64_t connection = 0;
  worker_registration who;
  duration limit{};
};

/// One task in a heartbeat.
struct task_progress {
  task_id id;
  job_id job;
  task_counts counts;
  double elements_per_second = 0;
};

/// Send WorkerHeartbeat to the dispatcher. `worker_core::heartbeat_answered` takes the answer, or
/// why there was none within `limit`, with the number of this connection.
struct heartbeat {
  uint64_t connection = 0;
  worker_id id;
  incarnation life;
  std::vector<task_progress> tasks;
  /// The first one since the worker registered: what is sent only when it changes is sent now.
  bool first = false;
  duration limit{};
  bool leaving = false; ///< the worker takes no new tasks
};

/// Send LeaseSplits for a task. `worker_core::splits_answered` takes the answer, of which any
/// acknowledges what was closed, and `splits_unanswered` why there was none within `limit`.
struct ask_splits {
  task_id task;
  uint64_t ask = 0; ///< counts the task's requests; goes with the answer
  splits_request what;
  duration limit{};
};

/// Send TaskEnded. `worker_core::end_acknowledged` takes the answer, and `end_unanswered` why there
/// was none within `limit`.
struct say_end {
  task_end what;
  duration limit{};
};

/// Send LeaveService. `worker_core::goodbye_over` is called when it is answered, and when `limit`
/// is over.
struct say_goodbye {
  worker_id id;
  incarnation life;
  duration limit{};
  uint32_t unfinished = 0; ///< tasks that had more to give when the time to drain was over
};

/// Give the connection to the dispatcher up, and connect anew.
struct renew_dispatcher {
  status why;
};

/// Make what the task needs, of the graph that came with the order, and have it supervised.
/// `worker_core::task_taken` takes the outcome.
struct run_task {
  task_order what;
  request_token order;
};

/// Have the task say to its consumers that it stops, and end.
struct stop_task {
  task_id task;
  std::string reason;
};

/// Have the task serve these consumers, and no other ones.
struct name_readers {
  task_readers who;
};

/// The task is not to run: take it from supervision, which asks its actor to end. What is kept of
/// the task is freed once no actor runs it.
struct drop_task {
  task_id task;
};

/// Give the job's answer to the task's actor.
struct give_splits {
  task_id task;
  split_question question;
  result<lease_answer> what;
};

/// Have the task finish what it has begun and give back the rest.
struct tell_leaving {
  task_id task;
};

/// Tell the task's consumers that it failed for good. Comes before the task is dropped.
struct fail_streams {
  task_id task;
  status why;
};

/// Bring nothing more from consumers to the task.
struct close_streams {
  task_id task;
};

/// Send AskSaveSteps. `worker_core::save_steps_answered` takes the answer, or why there was none
/// within `limit`, with the number of this connection.
struct ask_save_steps {
  uint64_t connection = 0;
  worker_id id;
  incarnation life;
  save_question what;
  duration limit{};
};

/// Take a step of a save, of the graph that the dispatcher has. `worker_core::save_step_ended`
/// takes the outcome.
struct run_save {
  save_order what;
};

/// The step of that save is not needed any more; nothing is heard of it.
struct stop_save {
  save_id id;
};

/// Count the threads that were told to stop, have not ended and did nothing for `patience`;
/// `worker_core::stuck_counted` takes the number. Comes before a heartbeat, which says it, too.
struct count_stuck {
  duration patience{};
};

/// Too many threads are stuck, or so many that the worker, which has no task, could take none: the
/// process cannot go on. Issued once.
struct report_stuck {
  status why;
};

/// The dispatcher is of another major version: to try again would not help.
struct report_other_version {
  status why;
};

/// The dispatcher did not answer for the worker's patience with it. Issued once.
struct report_no_dispatcher {
  status why;
};

/// The dispatcher's list has no place for this worker: to try again would not help. Issued once for
/// each such answer.
struct report_not_listed {
  status why;
};

/// The worker has left, or has no one to take leave of: its tasks are to be stopped. `ordered`: who
/// runs it did not ask for that, and is to hear of it.
struct left {
  bool ordered = false;
};

using command = std::variant<log_line, answer, register_here, heartbeat, ask_splits, say_end,
                             say_goodbye, renew_dispatcher, run_task, stop_task, name_readers,
                             drop_task, give_splits, tell_leaving, fail_streams, close_streams,
                             count_stuck, report_stuck, report_other_version, report_no_dispatcher,
                             report_not_listed, left, ask_save_steps, run_save, stop_save>;
using commands = std::vector<command>;

} // namespace headrace::worker
