#pragma once

#include "headrace/runtime/metrics/metric_registry.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace headrace::detail::monitor {

/// The definitions of all metrics that dispatchers and workers count, ordered by name, with their
/// kinds. Heartbeats carry samples without these definitions.
std::vector<std::pair<metric_info, std::string_view>> counted_metrics();

} // namespace headrace::detail::monitor
