#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace headrace::detail {

namespace {

/// Python's slice arithmetic for an axis of known extent.
axis_range slice_axis(const slice_spec& part, int64_t extent) {
  const auto step = part.step;
  const auto lowest = step > 0 ? 0 : -1;
  const auto highest = step > 0 ? extent : extent - 1;
  const auto clamp = [&](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, int64_t{lowest}, highest);
  };
  const auto start = part.has_start ? clamp(part.start) : (step > 0 ? lowest : highest);
  const auto stop = part.has_stop ? clamp(part.stop) : (step > 0 ? highest : lowest);
  const auto span = step > 0 ? stop - start : start - stop;
  // The magnitude is unsigned, because the lowest int64 has no positive counterpart.
  const auto stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const auto count =
    span <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / stride) + 1;
  return {start, step, count};
}

axis_range open_axis(const slice_spec& part) {
  const bool none = part.has_stop && part.stop == 0 && part.step > 0;
  return {0, part.step, none ? 0 : shape::unknown};
}

} // namespace

result<index_plan> plan_index(const std::vector<slice_spec>& parts, const shape& dims) {
  size_t used = 0;
  bool dots = false;
  for (const auto& part : parts) {
    if (part.what == slice_spec::kind::ellipsis && std::exchange(dots, true))
      return invalid_argument("two ellipses; at most one can stand for the other axes");
    used += part.what == slice_spec::kind::index || part.what == slice_spec::kind::range;
    if (part.what == slice_spec::kind::range && part.step == 0)
      return invalid_argument("a slice's step is 0; it must not be");
  }
  if (used > dims.rank())
    return invalid_argument(
      fmt::format("{} axes are indexed, but the input has shape {}", used, to_string(dims)));
  index_plan out;
  const auto whole = [&](size_t axes) {
    for (; axes != 0; --axes) {
      const auto extent = dims[out.axes.size()];
      out.axes.push_back({0, 1, extent});
      out.dims.push_back(extent);
    }
  };
  for (const auto& part : parts) {
    const auto axis = out.axes.size();
    switch (part.what) {
    case slice_spec::kind::new_axis: out.dims.push_back(1); break;
    case slice_spec::kind::ellipsis: whole(dims.rank() - used); break;
    case slice_spec::kind::index: {
      const auto extent = dims[axis];
      if (extent == shape::unknown) {
        out.axes.push_back({0, 1, 1});
        break;
      }
      if (part.start < -extent || part.start >= extent)
        return invalid_argument(fmt::format("index {} is outside of axis {} of shape {}",
                                            part.start, axis, to_string(dims)));
      out.axes.push_back({part.start < 0 ? part.start + extent : part.start, 1, 1});
      break;
    }
    case slice_spec::kind::range: {
      const auto extent = dims[axis];
      out.axes.push_back(extent == shape::unknown ? open_axis(part) : slice_axis(part, extent));
      out.dims.push_back(out.axes.back().count);
      break;
    }
    }
  }
  whole(dims.rank() - out.axes.size());
  return out;
}

} // namespace headrace::detail
