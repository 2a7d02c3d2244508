#pragma once

#include "headrace/client/command/servers/web_port.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::command {

/// The address of the dispatcher for a command to which no other address is given.
inline constexpr const char* default_dispatcher = "127.0.0.1:5050";

/// The commands that run servers, each with settings of its own.
enum class server_kind : uint8_t { dispatcher, worker, up };
inline constexpr std::array server_kinds{server_kind::dispatcher, server_kind::worker,
                                         server_kind::up};
/// The command's name.
std::string_view to_string(server_kind x) noexcept;

/// The settings of a server's process, for all kinds of servers.
struct process_flags {
  uint64_t memory_limit = 0; ///< bytes; 0: none
  log_options log;
  std::string port_file;
  bool no_restart = false;
  /// The time after a signal to stop at which the process is ended even if a thread still blocks.
  duration stop_budget = std::chrono::milliseconds{900};
};

/// The number of workers that `up` runs.
struct worker_range {
  int least = 1;
  int most = 1; ///< if larger than `least`: the number follows the demand of the trainers
  friend bool operator==(const worker_range&, const worker_range&) = default;
};

/// All settings of all kinds of servers; no kind uses all of them.
struct server_settings {
  endpoint_options endpoint;
  web_port http_port;
  /// The interval of heartbeats that the dispatcher sets for workers and trainers.
  duration heartbeat = std::chrono::seconds{1};
  duration lease = std::chrono::seconds{5};
  job_terms jobs;
  std::string work_dir;
  std::vector<std::string> worker_addresses;
  deployment_mode deployment = deployment_mode::remote;
  int worker_max_concurrent_saves = 3;

  std::string dispatcher = default_dispatcher; ///< the dispatcher to which a worker connects
  std::vector<std::string> tags;
  /// The interval of a worker's heartbeats; unset: the one that the dispatcher sets.
  std::optional<duration> own_heartbeat;
  std::optional<duration> dispatcher_timeout = std::chrono::hours{1};
  duration drain = std::chrono::milliseconds{500};

  worker_range workers;
  bool isolate = false; ///< each server of `up` has a process of its own
  std::vector<std::string> plugins;
  size_t most_stuck_threads = 8;
  uint64_t cross_trainer_cache_size = 0; ///< bytes; 0: a quarter of the memory
  uint64_t save_max_file_size = 0;       ///< bytes; 0: 6 GiB
  process_flags process;
};

/// The default settings of a kind.
server_settings defaults_of(server_kind kind);

} // namespace headrace::detail::command
