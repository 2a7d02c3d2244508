#pragma once

#include "headrace/actors/worker/worker_command.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace {

/// What a heartbeat says of the worker's process.
struct process_report {
  size_t stuck_threads = 0;
  uint64_t bad_messages = 0;
  link_counters links;
  buffer tree; ///< a SupervisionTree message; empty: as in the heartbeat before
};

void write_heartbeat(schema::WorkerHeartbeat::Builder out, const worker::heartbeat& what,
                     const process_report& process);

} // namespace headrace
