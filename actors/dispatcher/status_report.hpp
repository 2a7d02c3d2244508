#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace headrace::detail {

/// The last reports of all workers.
struct worker_reports {
  std::map<worker_id, envelope> heartbeats;
  std::map<worker_id, buffer> trees; ///< SupervisionTree messages
};

/// Removes reports until the others fit into `most` bytes: the largest trees and heartbeats of
/// workers first, then the largest answers of jobs. Returns a message with what was removed and
/// why; empty: nothing was removed.
std::string leave_out_what_is_too_large(worker_reports& told, std::vector<envelope>& jobs,
                                        size_t most);

/// Writes the status: the workers, and the answers of the jobs, with what the last heartbeats
/// report about their tasks.
void write_status(schema::ServiceStatus::Builder out, const worker_table& workers,
                  const worker_reports& told, const std::vector<envelope>& jobs, time_point now);

} // namespace headrace::detail
