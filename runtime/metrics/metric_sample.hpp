#pragma once

#include "headrace/runtime/metrics/metric.hpp"

#include <map>
#include <string>
#include <variant>

namespace headrace {

/// The labels that distinguish the metrics of one family: names and values.
using metric_labels = std::map<std::string, std::string>;

/// The value of a metric when it was read.
struct metric_sample {
  std::string name; ///< the name of the family
  metric_labels labels;
  /// The value of a counter, a gauge or a histogram.
  std::variant<uint64_t, double, histogram_counts> value;
  friend bool operator==(const metric_sample&, const metric_sample&) = default;
};

/// "counter", "gauge" or "histogram".
std::string_view kind_of(const metric_sample& x) noexcept;

/// The value of the counter `of` among samples; 0 if it is missing.
uint64_t count_in(const std::vector<metric_sample>& all, const counter_info& of,
                  const metric_labels& labels = {});

} // namespace headrace
