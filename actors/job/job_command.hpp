#pragma once

#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/log_line.hpp"
#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/request_token.hpp"

#include <string>
#include <variant>
#include <vector>

namespace headrace::detail::job_command {

/// Store these facts of one event, which the core has applied already, as one group. The later
/// commands for which `waits_for_facts` is true wait until the facts are stored. If another actor
/// has taken over the store, this actor ends.
struct store {
  std::vector<job_record::fact> facts;
};
/// Answer a request: with ok or a failure (a status), a view of the repetition, or splits.
struct answer {
  request_token to;
  std::variant<status, iteration_view, lease_answer> what;
  /// The answer depends on no fact, so it need not wait until facts are stored.
  bool at_once = false;
};
/// Order a worker to run a task. The worker's answer goes to `job_core::start_answered`; if there
/// is none, `job_core::start_unanswered` is called.
struct start_task {
  worker_id worker;
  task_order what;
  /// False: the graph is left out, because the worker may have it; a worker that does not have it
  /// answers not_found.
  bool with_graph = true;
};
/// Order a worker to stop a task. Then `job_core::stop_answered` is called, with true if the worker
/// answered.
struct stop_task {
  worker_id worker;
  task_id task;
  std::string reason;
};
/// Send a worker the readers of a task. Then `job_core::readers_answered` is called, with true if
/// the worker answered.
struct name_readers {
  worker_id worker;
  task_readers who;
};
/// Send readers the new state of their repetition.
struct announce {
  std::vector<consumer_id> to;
  iteration_view what;
};
/// Drop the handle of a reader that is gone.
struct drop_reader {
  reader_of who;
};
using log = log_line;
/// The job has ended normally, and its actor ends.
struct ended {};

} // namespace headrace::detail::job_command

namespace headrace::detail {

/// The commands of a job's core, in their order.
using job_commands =
  std::vector<std::variant<job_command::store, job_command::answer, job_command::start_task,
                           job_command::stop_task, job_command::name_readers, job_command::announce,
                           job_command::drop_reader, job_command::log, job_command::ended>>;

/// True if the command waits until the facts before it are stored. All commands do, except `store`
/// and answers that depend on no fact.
inline bool waits_for_facts(const job_commands::value_type& x) {
  const auto* said = std::get_if<job_command::answer>(&x);
  return !std::holds_alternative<job_command::store>(x) && (said == nullptr || !said->at_once);
}

} // namespace headrace::detail
