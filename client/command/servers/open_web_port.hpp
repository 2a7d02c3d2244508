#pragma once

#include "headrace/client/command/servers/web_port.hpp"
#include "headrace/client/monitor/monitored_server.hpp"
#include "headrace/client/server.hpp"

#include <memory>

namespace headrace::detail::command {

/// Starts the HTTP server of a process; returns null if its port is off. `port`: the port that it
/// had in an earlier life of the process; 0: there was none. Throws `error`.
std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what);

} // namespace headrace::detail::command
