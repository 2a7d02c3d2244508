#pragma once

#include "headrace/client/monitor/monitor_server.hpp"
#include "headrace/client/server.hpp"

namespace headrace::detail::monitor {

/// The HTTP port of a server that listens at `where`: at the same host with the same TLS, at any
/// free port.
web_options web_options_of(const endpoint_options& where);

/// The content for a dispatcher that listens at that port. Its process requests the status as a
/// client does.
monitored of_dispatcher(const endpoint_options& where, uint16_t port);
/// The content for a worker; `server` must outlive the result.
monitored of_worker(const worker_server& server);

} // namespace headrace::detail::monitor
