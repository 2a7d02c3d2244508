#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <string>
#include <vector>

namespace headrace::command {

/// A dispatcher and workers, each in a process of its own, which this process starts.
struct isolated_options {
  int workers = 1;
  endpoint_options endpoint; ///< of the dispatcher; port 0: any free one
  std::string port_file;     ///< may be empty
  /// The log of this process; the other processes write to the same place.
  log_options log;
  /// Further flags, as `headrace dispatcher` and `headrace worker` take them.
  std::vector<std::string> dispatcher_flags;
  std::vector<std::string> worker_flags;
};

/// Runs them until SIGTERM or SIGINT, which stops the workers and then the dispatcher in order. A
/// process that crashes is restarted; past its budget all processes end, and standard error names
/// the process, its end and its last output. The first line of output is the dispatcher's, once all
/// servers listen. Returns the exit code: 0, or that of the process that could not be kept running.
int run_isolated(const isolated_options& options);

} // namespace headrace::command
