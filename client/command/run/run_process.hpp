#pragma once

#include "headrace/client/command/run/run_directory.hpp"
#include "headrace/client/command/run/run_on_node.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/command/run/run_servers.hpp"
#include "headrace/client/command/status/service_watch.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/node.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headrace::detail::command {

/// The name of this host.
std::string host_name();

/// One process of a run: its servers, and its data about the run. The functions that use it are in
/// a file for each part of a run: `start_service` or `find_service`, `claim_rank`, `await_ranks`,
/// `run_command`, `end_rank`.
struct run_process {
  /// `process`: a random number that identifies this process and its guarding parent together (see
  /// `run_guarded`). `signals`: the descriptor from which the signals to the guarding parent are
  /// read. `options` must outlive the object.
  run_process(const run_options& options, std::string process, int signals);

  /// True unless the process only runs workers.
  bool has_rank() const { return !options.command.empty(); }
  bool leads() const { return has_rank() && options.rank.rank == 0; }
  bool by_directory() const { return !options.directory.empty(); }
  bool alone() const { return options.rank.size == 1 && !by_directory(); }

  /// The recorded progress of the ranks; unset if they meet at an address and not in a directory.
  std::optional<std::map<int, run_progress>> records_of_ranks() const;
  /// Prints what the run waits for: once, after 20 s or a quarter of `start_timeout`, whichever is
  /// less.
  void note_waiting(const std::string& what);

  const run_options& options;
  std::string process;
  run_directory directory;
  std::string host;
  const time_point begin = clock::system().now();
  bool waits_noted = false;
  run_servers servers;
  std::shared_ptr<node> here; ///< the node for requests to the service, with the TLS files
  std::string service;        ///< the address of the service for other processes
  std::string local;          ///< the address of the service for this process
  std::string token;
  std::optional<service_watch> watch; ///< set unless this process leads
  std::string stopped_because;        ///< why the command was stopped (`why_lost`); else empty
};

} // namespace headrace::detail::command
