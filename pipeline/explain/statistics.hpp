#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace headrace {

/// Measured values of one kind, which are counted in buckets.
struct measured_values {
  uint64_t count = 0;
  double sum = 0, sum_of_squares = 0;
  double least = 0, most = 0; ///< valid if there are values
  /// The number of values in each bucket, by the upper limit of the bucket: 0, or a power of
  /// 2^(1/4). The values in a bucket are above the next smaller limit.
  std::map<double, uint64_t> buckets;

  /// Counts `value` this number of times. Negative values count as 0.
  void add(double value, uint64_t times = 1);
};

/// Collects the measurements of `stats` operators, in any number of iterations. Thread-safe.
class statistics {
public:
  void add(std::string_view tag, double value, uint64_t times);
  /// The measurements by tag. Latencies are in microseconds.
  std::map<std::string, measured_values> summary() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, measured_values, std::less<>> all_;
};

struct statistics_options {
  std::string prefix; ///< the part of all tags before `::`; may be empty
  /// True: the time for an element is also measured for every operator, with the tag
  /// `record_latency_NAME/_NUMBER`. It includes the time of the operators below.
  bool all_operators = false;
};

/// The counters of one iteration over `graph`, for `iterate_options::counters`. The measurements of
/// the graph's `stats` operators are added to `to`, also those of datasets in functions. The
/// elements of a block get equal parts of its time. Operators that a service runs are not measured.
counters_of measured_by(std::shared_ptr<statistics> to, const dataset_ptr& graph,
                        statistics_options options = {});

} // namespace headrace
