#pragma once

/// Reads and writes the messages of consumers in dispatcher.capnp. A value that this build does not
/// define results in `unimplemented`, with its number.

#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_open_iteration(schema::OpenIteration::Builder out, const open_iteration& what);
result<open_iteration> read_open_iteration(schema::OpenIteration::Reader in);

void write_heartbeat(schema::ConsumerHeartbeat::Builder out, const reader_heartbeat& what);
void write_leave(schema::LeaveIteration::Builder out, const leave_iteration& what);
reader_heartbeat read_heartbeat(schema::ConsumerHeartbeat::Reader in);
leave_iteration read_leave(schema::LeaveIteration::Reader in);

void write_losses(schema::IterationLosses::Builder out, const iteration_losses& what);
iteration_losses read_losses(schema::IterationLosses::Reader in);

void write_iteration(schema::Iteration::Builder out, const iteration_view& what);
result<iteration_view> read_iteration(schema::Iteration::Reader in);

} // namespace headrace::detail
