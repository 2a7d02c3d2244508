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

namespace headrace::detail::dispatcher_command {

/// Store these facts, which the core has applied already. The later commands for which
/// `waits_for_facts` is true wait until the facts are stored. If another actor has taken over the
/// store, this actor ends.
struct store {
  std::vector<service_record::fact> facts;
};
/// Answer a request: with ok, with a failure (a status), or with the requested value.
struct answer {
  request_token to;
  std::variant<status, worker_registered, heartbeat_heard, dataset_def, iteration_view,
               worker_drains, save_view, save_steps>
    what;
};
/// Pass a request to the running actor of a job, which answers it.
struct to_job {
  job_id job;
  request_token request;
};
/// Keep an actor of the job running, and report its state with `job_started`, `job_crashed`,
/// `job_ended`, `job_failed` and `job_not_started`.
struct run_job {
  job_description what;
};
/// Drop the actor and the store of a job that is over.
struct drop_job {
  job_id id;
};
/// Report to the running actor of a job that a worker has registered, is about to leave or is gone.
struct worker_changed {
  job_id job;
  worker_info worker;
  bool lost = false;
};
/// The request came from that worker: keep the sender's handle, and report with
/// `worker_disconnected` when the connection is lost.
struct keep_worker {
  request_token from;
  worker_id id;
  incarnation life;
};
/// Drop the handle and the last report of a worker that is not alive any more.
struct drop_worker {
  worker_id id;
};
/// Keep this heartbeat as the worker's last report.
struct keep_report {
  request_token from;
  worker_id id;
};
/// Order a worker to stop a task.
struct stop_task {
  worker_id worker;
  task_id task;
  std::string reason;
};
/// Notify a worker that there are steps of saves. The notice may be lost, since the answers to
/// heartbeats contain it, too.
struct offer_saves {
  worker_id to;
};
/// The request may stay unanswered for long: report with `asker_gone` if its sender ends.
struct watch_asker {
  request_token of;
};
using log = log_line;

} // namespace headrace::detail::dispatcher_command

namespace headrace::detail {

/// The commands of a dispatcher's core, in their order.
using dispatcher_commands = std::vector<std::variant<
  dispatcher_command::store, dispatcher_command::answer, dispatcher_command::to_job,
  dispatcher_command::run_job, dispatcher_command::drop_job, dispatcher_command::worker_changed,
  dispatcher_command::keep_worker, dispatcher_command::drop_worker, dispatcher_command::keep_report,
  dispatcher_command::stop_task, dispatcher_command::offer_saves, dispatcher_command::watch_asker,
  dispatcher_command::log>>;

/// True if the command waits until the facts before it are stored. This holds for the answers that
/// state that a dataset is registered, that a worker leaves, or how far a save is. All other
/// commands need not wait: their effects are visible only through jobs, and the facts of a job are
/// stored only after the facts that the dispatcher appended earlier. So a disk that does not
/// respond cannot delay the answers to heartbeats, on which leases depend.
inline bool waits_for_facts(const dispatcher_commands::value_type& x) {
  const auto* said = std::get_if<dispatcher_command::answer>(&x);
  return said != nullptr
         && (std::holds_alternative<dataset_def>(said->what)
             || std::holds_alternative<worker_drains>(said->what)
             || std::holds_alternative<save_view>(said->what));
}

} // namespace headrace::detail
