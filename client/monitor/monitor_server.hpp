#pragma once

#include "headrace/client/monitor/open_metrics.hpp"
#include "headrace/client/monitor/web_server.hpp"
#include "headrace/client/service_status.hpp"

#include <functional>
#include <memory>

namespace headrace::detail::monitor {

/// The sources of the content on a server's HTTP port.
struct monitored {
  /// For a dispatcher: the status of its service, for the page, `/api/status.json` and `/metrics`.
  /// Blocks for some seconds at most. Empty: the server is a worker.
  std::function<result<service_status>()> status;
  /// For a worker: the metrics of its process.
  std::function<metric_families()> metrics;
  /// For a worker: returns an error, with the reason, while the worker cannot serve trainers.
  std::function<headrace::status()> ready;
};

/// Serves `/` (a page), `/metrics` (OpenMetrics), `/live`, `/ready` and `/api/status.json`. The
/// status is requested at most four times a second, whatever the number of clients.
result<std::unique_ptr<web_server>> start_monitor(const web_options& options, monitored what);

} // namespace headrace::detail::monitor
