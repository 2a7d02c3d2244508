#pragma once

/// The messages that the actors of the service send each other inside a process, and the types of
/// their handles. Between processes they send only envelopes.

#include "headrace/actors/consumer/consumer_event.hpp"
#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/actors/task/task_event.hpp"
#include "headrace/runtime/message/types.hpp"

namespace headrace::detail {

/// A worker registered, is about to leave, or is gone.
struct worker_change {
  worker_info worker;
  published_actor handle; ///< null if the worker is gone
  bool lost = false;      ///< the worker is gone: it has left, or is lost
};

} // namespace headrace::detail

CAF_BEGIN_TYPE_ID_BLOCK(headrace_actors, headrace::detail::actors_first_type_id)
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::worker_change>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::task_event>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::task_report>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::consumer_event>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::runner_over>))
CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::save_report>))
// A deadline that the actor set has come. The message contains the deadline's number, by which the
// actor recognises a void deadline.
CAF_ADD_ATOM(headrace_actors, headrace::atom, deadline, "deadline")
// Reports that a group of facts is stored, or will never be stored. The message contains the number
// of the group, and true if it is stored.
CAF_ADD_ATOM(headrace_actors, headrace::atom, stored, "stored")
CAF_END_TYPE_ID_BLOCK(headrace_actors)

namespace headrace::detail {

/// The value of `node_options::message_types` for nodes with actors of the service.
void register_actor_types(caf::actor_system_config& config);

/// The actor of one job. The dispatcher passes on the messages of its consumers and workers, and
/// reports workers that come and go.
using job_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<worker_change>),
               caf::result<void>(atom::stored, uint64_t, bool),
               caf::result<void>(atom::deadline, uint64_t)>;
/// The actor of one task, on a worker.
using task_handle =
  port::handle<caf::result<void>(local<task_event>), caf::result<void>(atom::deadline, uint64_t),
               caf::result<void>(atom::supervise, uint64_t)>;
/// The actor that represents a task's runner among the children of the runner's supervisor.
using runner_handle = port::handle<caf::result<void>(local<runner_over>)>;
/// The actor of a worker, which is published: the dispatcher and jobs send it orders.
using worker_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<task_report>),
               caf::result<void>(local<save_report>), caf::result<void>(atom::deadline, uint64_t),
               caf::result<void>(atom::supervise, uint64_t)>;
/// The actor of a consumer, which is published: the job sends it announcements.
using consumer_handle =
  port::handle<caf::result<envelope>(envelope), caf::result<void>(local<consumer_event>),
               caf::result<void>(atom::deadline, uint64_t)>;

} // namespace headrace::detail
