#pragma once

#include "headrace/runtime/metrics/metric_sample.hpp"
#include "headrace/schemas/metrics.capnp.h"

namespace headrace::detail {

void write_metrics(capnp::List<schema::Metric>::Builder out, const std::vector<metric_sample>& in);

/// Leaves out metrics of unknown kinds, and histograms whose bounds and counts do not match.
std::vector<metric_sample> read_metrics(capnp::List<schema::Metric>::Reader in);

} // namespace headrace::detail
