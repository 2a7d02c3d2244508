#include "headrace/pipeline/functions/representation/shapes.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

std::optional<shape> broadcast(const shape& a, const shape& b) {
  if (!a.has_rank() || !b.has_rank())
    return shape::unknown_rank();
  const auto rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const auto x = i < a.rank() ? a[a.rank() - 1 - i] : 1;
    const auto y = i < b.rank() ? b[b.rank() - 1 - i] : 1;
    auto& out = dims[rank - 1 - i];
    if (x == y || y == 1)
      out = x;
    else if (x == 1)
      out = y;
    else if (x == shape::unknown)
      out = y;
    else if (y == shape::unknown)
      out = x;
    else
      return std::nullopt;
  }
  return shape{std::move(dims)};
}

} // namespace headrace::detail

namespace headrace::detail {

result<size_t> normal_axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n)
    return invalid_argument(fmt::format("axis {} is not in [{}, {})", axis, -n, n));
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

result<std::vector<bool>> reduced_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> out(rank, axes.empty());
  for (auto axis : axes) {
    HEADRACE_ASSIGN(const auto at, normal_axis(axis, rank));
    if (out[at])
      return invalid_argument(fmt::format("axis {} is named twice", axis));
    out[at] = true;
  }
  return out;
}

namespace shape_rules {

result<shape> broadcast_all(const expr_attrs&, std::span<const shape> inputs) {
  auto out = inputs[0];
  for (const auto& next : inputs.subspan(1)) {
    auto both = broadcast(out, next);
    if (!both)
      return invalid_argument(fmt::format("shapes {} and {} do not broadcast; extents must be "
                                          "equal or 1",
                                          to_string(out), to_string(next)));
    out = *std::move(both);
  }
  return out;
}

result<shape> reduce(const expr_attrs& attrs, const shape& in) {
  if (!in.has_rank())
    return attrs.axes.empty() && !attrs.flag ? shape{} : shape::unknown_rank();
  HEADRACE_ASSIGN(const auto gone, reduced_axes(attrs.axes, in.rank()));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < in.rank(); ++i) {
    if (!gone[i])
      dims.push_back(in[i]);
    else if (attrs.flag)
      dims.push_back(1);
  }
  return shape{std::move(dims)};
}

result<shape> arg_reduce(const expr_attrs& attrs, const shape& in) {
  if (attrs.axes.size() != 1)
    return invalid_argument("takes exactly one axis");
  if (in.is_scalar())
    return invalid_argument("a scalar has no axis to search along");
  HEADRACE_ASSIGN(auto out, reduce(attrs, in));
  if (in.has_rank() && in[*normal_axis(attrs.axes[0], in.rank())] == 0)
    return invalid_argument(fmt::format("axis {} of {} is empty", attrs.axes[0], to_string(in)));
  return out;
}

result<shape> split(const expr_attrs&, const shape& in) {
  if (in.has_rank() && !in.is_scalar())
    return invalid_argument(
      fmt::format("the string has shape {}; a scalar is needed", to_string(in)));
  return shape{shape::unknown};
}

result<shape> without_last_axis(const expr_attrs&, const shape& in) {
  if (in.is_scalar())
    return invalid_argument("a scalar has no axis to join along");
  if (!in.has_rank())
    return in;
  return shape{std::vector<int64_t>{in.dims().begin(), in.dims().end() - 1}};
}

result<shape> with_last_axis(const expr_attrs&, const shape& in) {
  if (!in.has_rank())
    return in;
  std::vector<int64_t> dims{in.dims().begin(), in.dims().end()};
  dims.push_back(shape::unknown);
  return shape{std::move(dims)};
}

result<shape> index(const expr_attrs& attrs, const shape& in) {
  if (!in.has_rank())
    return shape::unknown_rank();
  HEADRACE_ASSIGN(auto plan, plan_index(attrs.slices, in));
  return shape{std::move(plan.dims)};
}

} // namespace shape_rules

} // namespace headrace::detail
