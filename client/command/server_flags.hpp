#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/process_parent.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::command {

/// How a server process behaves, whatever it serves.
struct process_flags {
  uint64_t memory_limit = 0; ///< bytes; 0: none
  log_options log;
  std::string port_file;
  bool restart = true;
  /// From a signal to stop to the end, whatever hangs.
  duration stop_budget = std::chrono::milliseconds{900};
};
void add_process_flags(CLI::App& app, process_flags& into);

/// `--host`, `--advertise`, the TLS files and `--insecure`; ports are each server's own.
void add_endpoint_flags(CLI::App& app, endpoint_options& into);

/// The three TLS files, for servers and for who talks to them.
void add_tls_flags(CLI::App& app, tls_options& into);

/// Adds `--heartbeat` and `--lease`.
void add_timing_flags(CLI::App& app, duration& heartbeat, duration& lease);
/// Adds `--client-timeout`, `--job-gc-timeout`, `--job-gc-check-interval` and
/// `--gc-dynamic-sharding-jobs`.
void add_job_flags(CLI::App& app, job_terms& into);
/// For when all is parsed: throws `CLI::ValidationError` if they do not go together.
void check_timing(duration heartbeat, duration lease, const job_terms& jobs);

/// `--work-dir`, of a dispatcher.
void add_work_dir_flag(CLI::App& app, std::string& into);
/// `--worker-addresses`, of a dispatcher.
void add_worker_addresses_flag(CLI::App& app, std::vector<std::string>& into);
/// `--max-stuck-threads`.
void add_stuck_flag(CLI::App& app, size_t& into);
/// `--plugin`, for what runs pipelines.
void add_plugin_flag(CLI::App& app, std::vector<std::string>& into);
/// The functions of these plug-ins. Throws `error`.
std::function<named_function(const std::string&)>
functions_of(const std::vector<std::string>& plugins);

/// Ends the process at once and says why.
[[noreturn]] void end_process(const std::string& name, const status& why, exit_code code);
/// What ends the process with the exit code for why its server cannot go on.
std::function<void(const status&)> end_process_as(std::string name);

/// A server's options with what its process adds to them.
template <class Options>
Options in_process(Options given, const std::string& name, const process_lives& lives,
                   const logger& log) {
  given.log = log;
  given.past = lives.past();
  given.on_failed = end_process_as(name);
  return given;
}

/// A server that was started.
struct running {
  /// Keeps it up; it stops when this is destroyed.
  std::shared_ptr<void> server;
  /// `host:port`, for the first line of output.
  std::string address;
  /// What it listens on, for `--port-file` (the first one) and for its next life.
  std::vector<uint16_t> ports;
  /// What that line calls it; empty: its name.
  std::string role = {};
};

/// Runs a server until SIGTERM or SIGINT, under a parent process that restarts it. `start` is
/// called in the child with what it knows of its earlier lives. Prints `NAME listening on
/// HOST:PORT` as the first line of output. Returns the exit code.
int serve(const std::string& name, const process_flags& flags,
          const std::function<running(const process_lives&, const logger&)>& start);

} // namespace headrace::command
