#pragma once

#include "headrace/client/command/run/run_rank.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <string>
#include <vector>

namespace headrace::detail::command {

/// The options of one process of a run.
struct run_options {
  std::vector<std::string> command; ///< empty: the process only runs workers
  run_rank rank;
  int workers = 1;
  /// The directory through which the processes of the run find each other; if empty, see `service`.
  std::string directory;
  /// The dispatcher's address. If both this and `directory` are empty, the run has no other
  /// process.
  std::string service;
  std::string host = "127.0.0.1";
  std::string advertise;
  uint16_t port = 0; ///< the port of the dispatcher
  tls_options tls;
  bool insecure = false;
  std::string work_dir;
  std::string config; ///< a file with settings of the servers; may be empty
  std::string log_level = "warn";
  /// The interpreter of workers that run Python functions; empty: workers do not run them.
  std::string python;
  /// The time limit within which the dispatcher, the workers and the other ranks must have started.
  /// The command is started after them.
  duration start_timeout = std::chrono::minutes{2};
  /// The time limit for the drain of a worker.
  duration drain_timeout = std::chrono::minutes{1};
  /// How long the commands of other processes may continue after the command of this process has
  /// succeeded.
  duration end_timeout = std::chrono::hours{1};
  /// How long the dispatcher of rank 0 may leave requests unanswered before the command is sent
  /// SIGTERM.
  duration lost_timeout = std::chrono::seconds{30};
  /// The time limit for the command to end after a signal to stop; then it is killed.
  duration stop_timeout = std::chrono::seconds{30};
};

/// Runs the command together with the servers of this process, and ends the servers after it.
/// Returns the exit code of the command, if it was started and did not succeed; else 0, one of
/// `exit_code`, or 128 + the number of a signal to stop. When it returns, the servers, the command
/// and all their descendants have ended.
int run_on_node(const run_options& options);

} // namespace headrace::detail::command
