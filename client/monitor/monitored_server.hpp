#pragma once

#include "headrace/client/monitor/monitor_server.hpp"
#include "headrace/client/server.hpp"

namespace headrace::monitor {

/// What a dispatcher that listens at that port shows. Its process asks it as a client.
monitored of_dispatcher(const endpoint_options& where, uint16_t port);
/// What a worker shows; `server` lives longer.
monitored of_worker(const worker_server& server);

} // namespace headrace::monitor
