#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <string>
#include <vector>

namespace headrace::command {

/// A dispatcher and workers, each in a process of its own, under this one.
struct isolated_options {
  int workers = 1;
  endpoint_options endpoint; ///< of the dispatcher; its port 0: any free one
  std::string port_file;     ///< may be empty
  /// What this process says; what the others say goes where that goes.
  log_options log;
  /// Further flags, as `headrace dispatcher` and `headrace worker` take them.
  std::vector<std::string> dispatcher_flags;
  std::vector<std::string> worker_flags;
};

/// Runs them until SIGTERM or SIGINT, which ends the workers and then the dispatcher in order.
/// Starts again who crashes; past the budget for that all end, and standard error says who, how and
/// what it wrote last. The first line of output is the dispatcher's, once all listen. Returns the
/// exit code: 0, or that of the process that could not be kept running.
int run_isolated(const isolated_options& options);

} // namespace headrace::command
