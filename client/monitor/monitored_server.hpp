#pragma once

#include "headrace/client/monitor/monitor_server.hpp"
#include "headrace/client/server.hpp"

namespace headrace::detail::monitor {

/// The options of the HTTP port of a server that listens at `where`: the same host and TLS files,
/// and any free port.
web_options web_options_of(const endpoint_options& where);

/// The content for a dispatcher that listens at `port` of the host in `where`. The process of the
/// dispatcher requests the status from this port, as a client does.
monitored of_dispatcher(const endpoint_options& where, uint16_t port);
/// The content for a worker; `server` must outlive the result.
monitored of_worker(const worker_server& server);

} // namespace headrace::detail::monitor
