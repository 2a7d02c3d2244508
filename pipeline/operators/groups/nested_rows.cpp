#include "headrace/pipeline/operators/groups/nested_rows.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

#include <algorithm>

namespace headrace::detail {

block nest_rows(const block& rows, std::span<const row_range> ranges) {
  block out;
  out.rows = ranges.size();
  for (const auto& c : rows.columns) {
    std::vector<column> datasets;
    datasets.reserve(ranges.size());
    for (auto [first, count] : ranges) datasets.push_back(c.slice(first, count));
    out.columns.push_back(column::nested(c.type(), std::move(datasets)));
  }
  for (size_t i = 0; i < ranges.size() && !rows.errors.empty(); ++i) {
    const auto first = std::lower_bound(rows.errors.begin(), rows.errors.end(), ranges[i].first,
                                        [](const row_error& e, size_t row) { return e.row < row; });
    if (first != rows.errors.end() && first->row < ranges[i].first + ranges[i].count)
      out.errors.push_back({static_cast<uint32_t>(i), first->why});
  }
  if (!rows.origins.empty()) {
    const origin_index origins{rows.origins};
    for (auto [first, count] : ranges)
      origins.append(out.origins, static_cast<uint32_t>(first + count - 1), 1);
  }
  return out;
}

} // namespace headrace::detail
