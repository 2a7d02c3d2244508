#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/log_line.hpp"
#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/request_token.hpp"

#include <string>
#include <variant>
#include <vector>

namespace headrace::dispatcher_command {

/// Store these; they hold already. What comes after waits until they are kept, as far as
/// `waits_for_facts` says so. If another actor has taken over the store, this one ends.
struct store {
  std::vector<service_record::fact> facts;
};
/// Answer a request: with ok or a failure (a status), or with what it asked for.
struct answer {
  request_token to;
  std::variant<status, worker_registered, heartbeat_heard, dataset_def, iteration_view,
               worker_drains, save_view, save_steps>
    what;
};
/// Let the actor of a job, which runs, answer a request.
struct to_job {
  job_id job;
  request_token request;
};
/// Keep an actor of a new job running, and report what becomes of it with `job_started`,
/// `job_crashed`, `job_ended`, `job_failed` and `job_not_started`.
struct run_job {
  job_description what;
};
/// The job is over: no actor of it is needed any more.
struct drop_job {
  job_id id;
};
/// Tell the actor of a job, which runs, that a worker is there (again), or is lost.
struct worker_changed {
  job_id job;
  worker_info worker;
  bool lost = false;
};
/// Whoever sent this request is that worker: keep how to reach it, and report with
/// `worker_disconnected` when the connection is lost.
struct keep_worker {
  request_token from;
  worker_id id;
  incarnation life;
};
/// The worker is not alive any more: forget how to reach it, and what it said of itself.
struct drop_worker {
  worker_id id;
};
/// This request, a heartbeat, is what the worker last said of itself.
struct keep_report {
  request_token from;
  worker_id id;
};
/// Tell a worker that a task is not needed any more.
struct stop_task {
  worker_id worker;
  task_id task;
  std::string reason;
};
/// Say to a worker that there are steps of saves. It need not arrive: the answers to heartbeats say
/// so, too.
struct offer_saves {
  worker_id to;
};
/// The request may have to wait for long: report with `asker_gone` when nobody waits any more.
struct watch_asker {
  request_token of;
};
using log = log_line;

} // namespace headrace::dispatcher_command

namespace headrace {

/// What a dispatcher's core wants to have done, in this order.
using dispatcher_commands = std::vector<std::variant<
  dispatcher_command::store, dispatcher_command::answer, dispatcher_command::to_job,
  dispatcher_command::run_job, dispatcher_command::drop_job, dispatcher_command::worker_changed,
  dispatcher_command::keep_worker, dispatcher_command::drop_worker, dispatcher_command::keep_report,
  dispatcher_command::stop_task, dispatcher_command::offer_saves, dispatcher_command::watch_asker,
  dispatcher_command::log>>;

/// What is promised waits until its facts are kept: that a dataset is registered, that a worker
/// leaves, or how far a save is. All else is seen through what jobs do, whose own facts are kept
/// after what was stored before, or is not stored; so a disk that is stuck keeps nobody waiting for
/// the sign of life that a lease hangs on.
inline bool waits_for_facts(const dispatcher_commands::value_type& x) {
  const auto* said = std::get_if<dispatcher_command::answer>(&x);
  return said != nullptr
         && (std::holds_alternative<dataset_def>(said->what)
             || std::holds_alternative<worker_drains>(said->what)
             || std::holds_alternative<save_view>(said->what));
}

} // namespace headrace
