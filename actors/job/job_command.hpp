#pragma once

#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/log_line.hpp"
#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/request_token.hpp"

#include <string>
#include <variant>
#include <vector>

namespace headrace::job_command {

/// Store these; they hold already. What comes after waits until they are kept, as far as
/// `waits_for_facts` says so. If another actor has taken over the store, this one ends.
struct store {
  std::vector<job_record::fact> facts;
};
/// Answer a request: with ok or a failure (a status), with what a reader has to know, or with
/// splits.
struct answer {
  request_token to;
  std::variant<status, iteration_view, lease_answer> what;
  /// It says nothing of any fact: it need not wait until these are kept.
  bool at_once = false;
};
/// Ask a worker to run a task. What it says is `job_core::start_answered`; that it says nothing
/// is `job_core::start_unanswered`.
struct start_task {
  worker_id worker;
  task_order what;
  /// False: the worker may have the graph from before; it says not_found if it has not.
  bool with_graph = true;
};
/// Tell a worker that a task is not needed any more. Whether it answered is
/// `job_core::stop_answered`.
struct stop_task {
  worker_id worker;
  task_id task;
  std::string reason;
};
/// Tell a worker who reads a task. Whether it answered is `job_core::readers_answered`.
struct name_readers {
  worker_id worker;
  task_readers who;
};
/// Send readers of a repetition its new state.
struct announce {
  std::vector<consumer_id> to;
  iteration_view what;
};
/// The reader is gone: forget how to reach it.
struct drop_reader {
  reader_of who;
};
using log = log_line;
/// The job is over: its actor ends, as it should.
struct ended {};

} // namespace headrace::job_command

namespace headrace {

/// What a job's core wants to have done, in this order.
using job_commands =
  std::vector<std::variant<job_command::store, job_command::answer, job_command::start_task,
                           job_command::stop_task, job_command::name_readers, job_command::announce,
                           job_command::drop_reader, job_command::log, job_command::ended>>;

/// What others would see of a decision waits until its facts are kept.
inline bool waits_for_facts(const job_commands::value_type& x) {
  const auto* said = std::get_if<job_command::answer>(&x);
  return !std::holds_alternative<job_command::store>(x) && (said == nullptr || !said->at_once);
}

} // namespace headrace
