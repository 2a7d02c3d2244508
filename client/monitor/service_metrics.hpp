#pragma once

#include "headrace/client/monitor/open_metrics.hpp"
#include "headrace/client/service_status.hpp"

namespace headrace::detail::monitor {

/// The content of a service's status in the form of metrics: workers, jobs, tasks, operators,
/// trainers, windows, rounds and saves; and the metrics of the dispatcher's process and of its
/// workers, which have the label `worker`.
metric_families metrics_of(const service_status& x);

/// The families of the status itself, without samples; for the documentation.
metric_families described_metrics();

} // namespace headrace::detail::monitor
