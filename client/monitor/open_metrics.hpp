#pragma once

#include "headrace/runtime/metrics/metric_registry.hpp"
#include "headrace/runtime/metrics/metric_sample.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::monitor {

/// Metrics of one name.
struct metric_family {
  std::string kind; ///< counter, gauge or histogram
  std::string unit; ///< may be empty
  std::string help; ///< may be empty
  std::vector<metric_sample> samples;
};

/// The families by name.
using metric_families = std::map<std::string, metric_family>;

/// Adds samples without their definitions, with further labels.
void add_samples(metric_families& to, const std::vector<metric_sample>& samples,
                 const metric_labels& labels = {});
/// Adds all metrics of a registry, with their definitions.
void add_registry(metric_families& to, const metric_registry& from);

/// The content type of the result of `open_metrics_text`.
inline constexpr std::string_view open_metrics_type =
  "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The families in the text format of OpenMetrics 1.0.
std::string open_metrics_text(const metric_families& all);

} // namespace headrace::detail::monitor
