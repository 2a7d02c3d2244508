#pragma once

#include "headrace/client/monitor/open_metrics.hpp"
#include "headrace/client/monitor/web_server.hpp"
#include "headrace/client/service_status.hpp"

#include <functional>
#include <memory>

namespace headrace::monitor {

/// What a server shows on its HTTP port.
struct monitored {
  /// Of a dispatcher: the status of its service, for the page, `/api/status.json` and `/metrics`.
  /// Blocks for some seconds at most. Empty: it is a worker.
  std::function<result<service_status>()> status;
  /// Of a worker: the metrics of its process.
  std::function<metric_families()> metrics;
  /// Of a worker: not ok, with the reason, while it cannot serve trainers.
  std::function<headrace::status()> ready;
};

/// Serves `/` (a page), `/metrics` (OpenMetrics), `/live`, `/ready` and `/api/status.json`. The
/// status is asked for at most four times a second, however many ask.
result<std::unique_ptr<web_server>> start_monitor(const web_options& options, monitored what);

} // namespace headrace::monitor
