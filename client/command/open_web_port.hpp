#pragma once

#include "headrace/client/command/web_port.hpp"
#include "headrace/client/monitor/monitored_server.hpp"
#include "headrace/client/server.hpp"

#include <memory>

namespace headrace::command {

/// Starts the HTTP port of a server at `where`; null if it is off. `port`: the one that an earlier
/// life of this process had; 0: none. Throws `error`.
std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what);

} // namespace headrace::command
