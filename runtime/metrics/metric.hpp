#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace headrace {

/// The definition of a metric. The name is that of the metric's family in OpenMetrics: it begins
/// with `headrace_`, and ends with the unit if there is one.
struct metric_info {
  std::string_view name;
  std::string_view unit; ///< a base unit in the plural, such as `bytes` and `seconds`; may be empty
  std::string_view help; ///< one sentence
};

/// A definition is a constant beside the code that counts. The type of the definition determines
/// the kind of the metric.
struct counter_info : metric_info {};
struct gauge_info : metric_info {};
struct histogram_info : metric_info {
  /// The upper bounds of the buckets, in ascending order, without infinity.
  std::span<const double> bounds;
};

/// A number that only increases. Thread-safe.
class counter {
public:
  /// Returns the new value.
  uint64_t add(uint64_t n = 1) noexcept {
    return value_.fetch_add(n, std::memory_order_relaxed) + n;
  }
  uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> value_{0};
};

/// A number that increases and decreases. Thread-safe.
class gauge {
public:
  void set(double x) noexcept { value_.store(x, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<double> value_{0};
};

/// The content of a histogram.
struct histogram_counts {
  std::vector<double> bounds;
  /// The number of values in each bucket, `(bounds[i - 1], bounds[i]]`; there is one more bucket
  /// than bounds, for values above the last bound.
  std::vector<uint64_t> counts;
  double sum = 0;

  uint64_t total() const noexcept {
    uint64_t out = 0;
    for (auto x : counts) out += x;
    return out;
  }
  friend bool operator==(const histogram_counts&, const histogram_counts&) = default;
};

/// Counts values by their size. Thread-safe; meant for up to some thousand events a second.
class histogram {
public:
  explicit histogram(std::span<const double> bounds) {
    counts_.bounds.assign(bounds.begin(), bounds.end());
    counts_.counts.resize(bounds.size() + 1);
  }
  void observe(double x);
  histogram_counts value() const;

private:
  mutable std::mutex mutex_;
  histogram_counts counts_;
};

} // namespace headrace
