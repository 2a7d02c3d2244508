#include "headrace/runtime/metrics/metric.hpp"

#include <algorithm>

namespace headrace {

void histogram::observe(double x) {
  std::lock_guard lock{mutex_};
  const auto at = std::ranges::lower_bound(counts_.bounds, x);
  ++counts_.counts[static_cast<size_t>(at - counts_.bounds.begin())];
  counts_.sum += x;
}

histogram_counts histogram::value() const {
  std::lock_guard lock{mutex_};
  return counts_;
}

} // namespace headrace
