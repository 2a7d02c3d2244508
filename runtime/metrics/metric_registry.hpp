#pragma once

#include "headrace/runtime/metrics/metric_sample.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace headrace::detail {

/// The metrics of one node. Code that counts gets its metrics once, by their definitions, and keeps
/// references, which are valid as long as the registry. Thread-safe.
class metric_registry {
public:
  metric_registry() = default;
  metric_registry(const metric_registry&) = delete;

  /// The metric with the name of `what` and these labels. It is made if it does not exist. Throws
  /// `error` if a metric of another kind has the name and the labels. @pre the definition outlives
  /// the registry
  counter& get(const counter_info& what, const metric_labels& labels = {});
  gauge& get(const gauge_info& what, const metric_labels& labels = {});
  histogram& get(const histogram_info& what, const metric_labels& labels = {});

  /// All metrics, ordered by name and labels.
  std::vector<metric_sample> read() const;
  /// As `read`, without counters and histograms to which nothing was added.
  std::vector<metric_sample> read_counted() const;
  /// The value of a counter; 0 if it does not exist.
  uint64_t count(const counter_info& of, const metric_labels& labels = {}) const;
  /// The definitions of all families, ordered by name, with their kinds.
  std::vector<std::pair<metric_info, std::string_view>> families() const;

private:
  using metric =
    std::variant<std::unique_ptr<counter>, std::unique_ptr<gauge>, std::unique_ptr<histogram>>;
  struct entry {
    const metric_info* what = nullptr;
    metric held;
  };

  template <class Metric, class Info>
  Metric& find_or_make(const Info& what, const metric_labels& labels,
                       std::unique_ptr<Metric> (*make)(const Info&));
  static metric_sample sample(std::string_view name, const metric_labels& labels,
                              const metric& held);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, metric_labels>, entry> entries_;
};

} // namespace headrace::detail
