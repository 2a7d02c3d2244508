#pragma once

/// What the service's actors send each other inside a process, and their handles. Between processes
/// they send envelopes only.

#include "headrace/actors/consumer/consumer_event.hpp"
#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/actors/task/task_event.hpp"
#include "headrace/runtime/message/types.hpp"

namespace headrace {

/// A worker came, or its lease ended.
struct worker_change {
  worker_info worker;
  published_actor handle; ///< null if lost
  bool lost = false;
};

} // namespace headrace

CAF_BEGIN_TYPE_ID_BLOCK(headrace_actors, headrace::actors_first_type_id)
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::worker_change>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::task_event>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::task_report>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::consumer_event>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::runner_over>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::save_report>))
// A deadline that an actor set itself has come; with it goes an epoch.
CAF_ADD_ATOM(headrace_actors, headrace::atom, deadline, "deadline")
// A group of facts is kept, or will never be; with it go its number and which.
CAF_ADD_ATOM(headrace_actors, headrace::atom, stored, "stored")
// Time to tell the dispatcher that we live.
CAF_ADD_ATOM(headrace_actors, headrace::atom, beat, "beat")
CAF_END_TYPE_ID_BLOCK(headrace_actors)

namespace headrace {

bool announce_actor_types();
inline const bool actor_types_known = announce_actor_types();

/// Decides for one job. Takes what consumers and workers say about it (handed on by the dispatcher)
/// and the comings and goings of workers.
using job_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<worker_change>),
               caf::result<void>(atom::stored, uint64_t, bool),
               caf::result<void>(atom::deadline, uint64_t)>;
/// Runs one task on a worker.
using task_handle =
  port::handle<caf::result<void>(local<task_event>), caf::result<void>(atom::deadline, uint64_t),
               caf::result<void>(atom::supervise, uint64_t)>;
/// Stands for a task's runner among its supervisor's children.
using runner_handle = port::handle<caf::result<void>(local<runner_over>)>;
/// Runs the tasks of a process. Published: dispatcher and jobs tell it what to run.
using worker_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<task_report>),
               caf::result<void>(local<save_report>), caf::result<void>(atom::deadline, uint64_t),
               caf::result<void>(atom::supervise, uint64_t)>;
/// Reads one iteration for a trainer. Published: the job tells it of changes.
using consumer_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<consumer_event>),
               caf::result<void>(atom::deadline, uint64_t)>;

} // namespace headrace
