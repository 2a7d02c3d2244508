#pragma once

/// Reads and writes the messages between jobs and workers about tasks, in worker.capnp and
/// dispatcher.capnp. A value that this build does not define results in `unimplemented`, with its
/// number.

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/runtime/message/envelope.hpp"
#include "headrace/schemas/task_outcome.capnp.h"

namespace headrace::detail {

/// `graph`: a Graph message. If it is empty, the worker uses the graph of an earlier order, or
/// answers not_found.
void write_task_order(schema::StartTask::Builder out, const task_order& what, const buffer& graph);
/// Reads the order without its graph, which is in `in.getGraph()`.
result<task_order> read_task_order(schema::StartTask::Reader in);

/// A message that orders a worker to stop a task.
envelope make_stop_order(task_id which, const std::string& why);

void write_task_readers(schema::TaskReaders::Builder out, const task_readers& what);
task_readers read_task_readers(schema::TaskReaders::Reader in);

schema::TaskOutcome to_schema(task_outcome x);
result<task_outcome> from_schema(schema::TaskOutcome x);

void write_task_end(schema::TaskEnded::Builder out, const task_end& what);
result<task_end> read_task_end(schema::TaskEnded::Reader in);

} // namespace headrace::detail
