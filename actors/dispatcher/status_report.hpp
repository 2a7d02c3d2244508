#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace headrace {

/// What workers last told of themselves.
struct worker_reports {
  std::map<worker_id, envelope> heartbeats;
  std::map<worker_id, buffer> trees; ///< SupervisionTree messages
};

/// Leaves out what does not fit into `most` bytes: the largest of the workers' trees and heartbeats
/// first, then the largest of the jobs' answers. Says what that is, and why; empty: nothing.
std::string leave_out_what_is_too_large(worker_reports& told, std::vector<envelope>& jobs,
                                        size_t most);

/// Puts together what `headrace status` shows: the workers, and the jobs as they answered for
/// themselves, completed by what the workers' last heartbeats say of their tasks.
void write_status(schema::ServiceStatus::Builder out, const worker_table& workers,
                  const worker_reports& told, const std::vector<envelope>& jobs, time_point now);

} // namespace headrace
