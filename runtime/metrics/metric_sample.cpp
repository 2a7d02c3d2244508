#include "headrace/runtime/metrics/metric_sample.hpp"

#include <algorithm>
#include <array>

namespace headrace {

std::string_view kind_of(const metric_sample& x) noexcept {
  constexpr std::array<std::string_view, 3> kinds{"counter", "gauge", "histogram"};
  return kinds[x.value.index()];
}

uint64_t count_in(const std::vector<metric_sample>& all, const counter_info& of,
                  const metric_labels& labels) {
  const auto at = std::ranges::find_if(
    all, [&](const metric_sample& x) { return x.name == of.name && x.labels == labels; });
  const auto* count = at != all.end() ? std::get_if<uint64_t>(&at->value) : nullptr;
  return count != nullptr ? *count : 0;
}

} // namespace headrace
