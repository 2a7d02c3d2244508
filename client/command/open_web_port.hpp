#pragma once

#include "headrace/client/command/web_port.hpp"
#include "headrace/client/monitor/monitor_server.hpp"
#include "headrace/client/server.hpp"

#include <memory>

namespace headrace::command {

/// Starts the HTTP port of a server at `where`; null if it is off. `port`: the one that an earlier
/// life of this process had; 0: none. Throws `error`.
std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what);

/// What a dispatcher that listens at that port shows. Its process asks it as a client.
monitor::monitored of_dispatcher(const endpoint_options& where, uint16_t port);
/// What a worker shows; `server` lives longer.
monitor::monitored of_worker(const worker_server& server);

} // namespace headrace::command
