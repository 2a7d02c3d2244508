#pragma once

#include "headrace/client/command/web_port.hpp"
#include "headrace/client/monitor/monitored_server.hpp"
#include "headrace/client/server.hpp"

#include <memory>

namespace headrace::detail::command {

/// Starts the HTTP port of a server; null if the port is off. `port`: the port of an earlier life
/// of this process; 0: there is none. Throws `error`.
std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what);

} // namespace headrace::detail::command
