#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace headrace {

/// Values of one kind, not each by itself but in buckets.
struct measured_values {
  uint64_t count = 0;
  double sum = 0, sum_of_squares = 0;
  double least = 0, most = 0; ///< meaningful if there are values
  /// Values by the upper limit of their bucket: 0, or a power of 2^(1/4). A value lies above the
  /// next smaller such limit.
  std::map<double, uint64_t> buckets;

  /// Counts `value` so often. Negative values count as 0.
  void add(double value, uint64_t times = 1);
};

/// Collects what `stats` operators measure, of any number of iterations. Thread-safe.
class statistics {
public:
  void add(std::string_view tag, double value, uint64_t times);
  /// By tag. Latencies are in microseconds.
  std::map<std::string, measured_values> summary() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, measured_values, std::less<>> all_;
};

struct statistics_options {
  std::string prefix; ///< of all tags, before `::`; or empty
  /// Measures how long each operator took for an element as well, with what is below it, as
  /// `record_latency_NAME/_NUMBER`.
  bool all_operators = false;
};

/// The counters of one iteration over `graph`, for `iterate_options::counters`: what the graph's
/// `stats` operators measure goes to `to`, also of datasets in functions. Elements that came in one
/// block took equally long. What a service runs is not measured.
counters_of measured_by(std::shared_ptr<statistics> to, const dataset_ptr& graph,
                        statistics_options options = {});

} // namespace headrace
