#pragma once

#include "headrace/client/server.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

namespace headrace::detail {

/// Gives the page of a server the registry of its metrics. Unlike samples, a registry has the
/// definitions of the metrics, with their units and help texts, also of those without a sample.
class metrics_access {
public:
  /// The registry is valid as long as `of` exists.
  static const metric_registry& registry_of(const worker_server& of) noexcept;
};

} // namespace headrace::detail
