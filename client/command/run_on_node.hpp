#pragma once

#include "headrace/client/command/run_rank.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <string>
#include <vector>

namespace headrace::command {

/// What one process of a run does.
struct run_options {
  std::vector<std::string> command; ///< empty: it only brings workers
  run_rank rank;
  int workers = 1;
  std::string directory; ///< where the processes of the run meet; or
  std::string service;   ///< the dispatcher's address. Both empty: this process is alone
  std::string host = "127.0.0.1";
  std::string advertise;
  uint16_t port = 0; ///< of the dispatcher
  tls_options tls;
  bool insecure = false;
  std::string work_dir;
  std::string config; ///< a file of the servers' settings; may be empty
  std::string log_level = "warn";
  std::string python; ///< the interpreter of workers that run Python functions; empty: they do not
  /// How long all that the command needs may take to come.
  duration start_timeout = std::chrono::minutes{2};
  /// How long a worker may take to leave.
  duration drain_timeout = std::chrono::minutes{1};
  /// How long the commands of other processes may run on after this one's has ended well.
  duration end_timeout = std::chrono::hours{1};
  /// From a signal to stop to the end of the command.
  duration stop_timeout = std::chrono::seconds{30};
};

/// Runs the command beside the servers of this process, and ends them after it. Returns the exit
/// code: the command's, or one of `exit_code` if it was not started. Nothing that it started
/// outlives it.
int run_on_node(const run_options& options);

} // namespace headrace::command
