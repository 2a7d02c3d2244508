#pragma once

#include "headrace/client/monitor/monitor_server.hpp"
#include "headrace/client/server.hpp"

namespace headrace::detail::monitor {

/// The options of the HTTP port of a server that listens at `where`: the same host and TLS files,
/// and any free port.
web_options web_options_of(const endpoint_options& where);

/// The sources of the content on a dispatcher's HTTP port. The dispatcher listens at `port` of the
/// host in `where`, and its own process requests the status from `port`, as a client does.
monitored of_dispatcher(const endpoint_options& where, uint16_t port);
/// The sources of the content on a worker's HTTP port. `server` must outlive the result.
monitored of_worker(const worker_server& server);

} // namespace headrace::detail::monitor
