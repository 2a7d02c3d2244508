#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <string>
#include <vector>

namespace headrace::detail::command {

/// The options for a dispatcher and workers, each in a process of its own, which this process
/// starts.
struct isolated_options {
  int workers = 1;
  endpoint_options endpoint; ///< the endpoint of the dispatcher; port 0: any free port
  std::string port_file;     ///< may be empty
  /// The log of this process; the other processes write to the same place.
  log_options log;
  /// Further flags for `headrace dispatcher` and `headrace worker`.
  std::vector<std::string> dispatcher_flags;
  std::vector<std::string> worker_flags;
};

/// Runs the servers until a signal to stop, after which first the workers and then the dispatcher
/// are stopped in order. A process that crashes is restarted. When the restart budget of all
/// processes together is used up, all are ended, and the name of the process that crashed last, its
/// end and its last output are printed on standard error. When all servers listen, this process
/// prints the first line of output, with the dispatcher's address. Returns the exit code: 0, or
/// that of the process that could not be kept running.
int run_isolated(const isolated_options& options);

} // namespace headrace::detail::command
