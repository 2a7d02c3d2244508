#pragma once

#include "headrace/runtime/metrics/metric_sample.hpp"
#include "headrace/schemas/metrics.capnp.h"

namespace headrace::detail {

void write_metrics(capnp::List<schema::Metric>::Builder out, const std::vector<metric_sample>& in);

/// Metrics that contradict themselves, or whose kind this build does not define, are left out.
std::vector<metric_sample> read_metrics(capnp::List<schema::Metric>::Reader in);

} // namespace headrace::detail
