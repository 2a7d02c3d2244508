#pragma once

#include "headrace/actors/worker/worker_command.hpp"
#include "headrace/pipeline/explain/operator_activity.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/metrics/metric_sample.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

#include <map>
#include <vector>

namespace headrace::detail {

/// The part of a heartbeat that is about the worker's process.
struct process_report {
  std::vector<metric_sample> metrics;
  /// The activity of the operators of tasks in the last seconds.
  std::map<task_id, std::vector<operator_activity>> operators;
  buffer tree; ///< a SupervisionTree message; empty if it has not changed since the last heartbeat
};

void write_heartbeat(schema::WorkerHeartbeat::Builder out, const worker::heartbeat& what,
                     const process_report& process);

} // namespace headrace::detail
