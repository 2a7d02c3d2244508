#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::command {

/// The commands that serve, each with settings of its own.
enum class server_kind : uint8_t { dispatcher, worker, up };
inline constexpr std::array server_kinds{server_kind::dispatcher, server_kind::worker,
                                         server_kind::up};
/// The command's name.
std::string_view to_string(server_kind x) noexcept;

/// How a server process behaves, whatever it serves.
struct process_flags {
  uint64_t memory_limit = 0; ///< bytes; 0: none
  log_options log;
  std::string port_file;
  bool no_restart = false;
  /// From a signal to stop to the end, whatever hangs.
  duration stop_budget = std::chrono::milliseconds{900};
};

/// All that can be set of any of these servers; one kind has no use for some of it.
struct server_settings {
  endpoint_options endpoint;
  duration heartbeat = std::chrono::seconds{1}; ///< that a dispatcher asks for
  duration lease = std::chrono::seconds{5};
  job_terms jobs;
  std::string work_dir;
  std::vector<std::string> worker_addresses;
  deployment_mode deployment = deployment_mode::remote;
  int worker_max_concurrent_saves = 3;

  std::string dispatcher = "127.0.0.1:5050"; ///< that a worker serves
  std::vector<std::string> tags;
  std::optional<duration> own_heartbeat; ///< a worker's
  std::optional<duration> dispatcher_timeout = std::chrono::hours{1};
  duration drain = std::chrono::milliseconds{500};

  int workers = 1;
  bool isolate = false; ///< a process for each server of `up`
  std::vector<std::string> plugins;
  size_t most_stuck_threads = 8;
  uint64_t cross_trainer_cache_size = 0; ///< bytes; 0: a quarter of the memory
  uint64_t save_max_file_size = 0;       ///< bytes; 0: 6 GiB
  process_flags process;
};

/// What holds where nothing is set.
server_settings defaults_of(server_kind kind);

} // namespace headrace::command
