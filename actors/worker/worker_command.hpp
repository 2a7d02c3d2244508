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

namespace headrace::detail::worker {

// -- the messages of a task to its worker -----------------------------------------------

/// The progress of a task.
struct task_counts {
  task_output_counts made;
  uint32_t streams = 0;
  uint32_t restarts = 0;                   ///< restarts of its runner
  std::optional<cache_report> window = {}; ///< in a job with a cross-trainer cache
  friend bool operator==(const task_counts&, const task_counts&) = default;
};

/// A task's report to its worker.
struct task_news {
  task_id id;
  incarnation life;
  job_id job;
  task_counts counts;
  std::optional<splits_wish> wants; ///< the task waits for the answer
  std::optional<status> ended;      ///< the task has ended; ok unless it failed
  task_outcome outcome = task_outcome::exhausted;
  /// Set if the task leaves: the splits that it has not begun to read.
  std::optional<std::vector<unread_splits>> unread;
  /// The task is exhausted, and its pipeline ended before its sources did.
  bool by_itself = false;
  /// As `task_end::held`.
  std::map<consumer_id, reader_marks> held = {};
};

// -- commands -----------------------------------------------------------------------------

/// Answer a request of a job or a dispatcher: ok, or a failure.
struct answer {
  request_token to;
  status how;
};

/// Send RegisterWorker to the dispatcher. `worker_core::registered` gets the answer, or the reason
/// why there was none within `limit`, with the number of this connection.
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

/// Send WorkerHeartbeat to the dispatcher. `worker_core::heartbeat_answered` gets the answer, or
/// the reason why there was none within `limit`, with the number of this connection.
struct heartbeat {
  uint64_t connection = 0;
  worker_id id;
  incarnation life;
  std::vector<task_progress> tasks;
  /// This is the first heartbeat since the worker registered. It also contains the fields that are
  /// otherwise sent only when they have changed.
  bool first = false;
  duration limit{};
  bool leaving = false; ///< the worker takes no new tasks
};

/// Send LeaseSplits for a task. `worker_core::splits_answered` gets the answer; a closed pass is
/// acknowledged by any answer but `unavailable`. If there is no answer within `limit`,
/// `splits_unanswered` gets the reason.
struct ask_splits {
  task_id task;
  uint64_t ask = 0; ///< counts the task's requests; passed on with the answer
  splits_request what;
  duration limit{};
};

/// Send TaskEnded. `worker_core::end_acknowledged` gets the answer; if there is none within
/// `limit`, `end_unanswered` gets the reason.
struct say_end {
  task_end what;
  duration limit{};
};

/// Send LeaveService. `worker_core::goodbye_over` is called when it is answered, or when `limit`
/// has passed.
struct say_goodbye {
  worker_id id;
  incarnation life;
  duration limit{};
  /// The number of tasks that had not ended when the time to drain was over.
  uint32_t unfinished = 0;
};

/// Drop the connection to the dispatcher, and make another one.
struct renew_dispatcher {
  status why;
};

/// Make a task from an order and its graph, and supervise it. `worker_core::task_taken` gets the
/// outcome.
struct run_task {
  task_order what;
  request_token order;
};

/// Stop the task: it informs its consumers, and ends.
struct stop_task {
  task_id task;
  std::string reason;
};

/// Order the task to serve these consumers and no others.
struct name_readers {
  task_readers who;
};

/// Remove the task, which must no longer run, from supervision; so its actor is requested to end.
/// The task's memory is freed when no actor runs it.
struct drop_task {
  task_id task;
};

/// Pass the job's answer to the task's actor.
struct give_splits {
  task_id task;
  split_question question;
  result<lease_answer> what;
};

/// Order the task to finish the splits that it has begun, and to give back the others.
struct tell_leaving {
  task_id task;
};

/// Inform the task's consumers that it failed for good. This command comes before the one that
/// drops the task.
struct fail_streams {
  task_id task;
  status why;
};

/// Pass no more messages of consumers to the task.
struct close_streams {
  task_id task;
};

/// Send AskSaveSteps. `worker_core::save_steps_answered` gets the answer, or the reason why there
/// was none within `limit`, with the number of this connection.
struct ask_save_steps {
  uint64_t connection = 0;
  worker_id id;
  incarnation life;
  save_question what;
  duration limit{};
};

/// Do a step of a save, with the graph that the dispatcher has. `worker_core::save_step_ended` gets
/// the outcome.
struct run_save {
  save_order what;
};

/// Stop the step of save `id`. The step must not report an outcome after that.
struct stop_save {
  save_id id;
};

/// Count the stuck threads: those that were requested to stop, have not ended and were idle for
/// `patience`. `worker_core::stuck_counted` gets the number. This command comes before each
/// heartbeat, which reports the number, too.
struct count_stuck {
  duration patience{};
};

/// Report that the process cannot continue: `worker_core_options::most_stuck` threads are stuck, or
/// one less while the worker has no task, because it could then accept none. Issued once.
struct report_stuck {
  status why;
};

/// Report that the dispatcher has another major version, so further attempts would fail, too.
struct report_other_version {
  status why;
};

/// Report that the dispatcher did not answer within `dispatcher_timeout`. Issued once.
struct report_no_dispatcher {
  status why;
};

/// Report that the dispatcher's list has no entry for this worker, so further attempts would fail,
/// too. Not issued again if the next registration gets an equal answer.
struct report_not_listed {
  status why;
};

/// Stop the tasks: the worker has left, or has no dispatcher to which it could send a goodbye.
/// `ordered`: the dispatcher ordered the worker to leave, so the worker's owner must be informed.
struct left {
  bool ordered = false;
};

using command = std::variant<log_line, answer, register_here, heartbeat, ask_splits, say_end,
                             say_goodbye, renew_dispatcher, run_task, stop_task, name_readers,
                             drop_task, give_splits, tell_leaving, fail_streams, close_streams,
                             count_stuck, report_stuck, report_other_version, report_no_dispatcher,
                             report_not_listed, left, ask_save_steps, run_save, stop_save>;
using commands = std::vector<command>;

} // namespace headrace::detail::worker
