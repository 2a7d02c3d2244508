#include "headrace/pipeline/functions/representation/shapes.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/functions/representation/movement_shapes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace {

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

} // namespace headrace

namespace headrace::detail {

bool is_elementwise(expr_op op) noexcept {
  return (op >= expr_op::add && op <= expr_op::cast) || op == expr_op::string_length
         || op == expr_op::string_upper || op == expr_op::string_lower
         || op == expr_op::string_strip || op == expr_op::string_join || op == expr_op::to_number
         || op == expr_op::as_string;
}

bool is_reduction(expr_op op) noexcept {
  return op >= expr_op::reduce_sum && op <= expr_op::reduce_any;
}

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

namespace {

constexpr int64_t unknown = shape::unknown;

result<shape> broadcast_all(std::span<const shape> inputs) {
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

result<shape> split(const shape& in) {
  if (in.has_rank() && !in.is_scalar())
    return invalid_argument(
      fmt::format("the string has shape {}; a scalar is needed", to_string(in)));
  return shape{unknown};
}

result<shape> reduce_join(const shape& in) {
  if (in.is_scalar())
    return invalid_argument("a scalar has no axis to join along");
  if (!in.has_rank())
    return in;
  return shape{std::vector<int64_t>{in.dims().begin(), in.dims().end() - 1}};
}

} // namespace

result<shape> result_shape(expr_op op, const expr_attrs& attrs, std::span<const shape> in) {
  if (is_elementwise(op))
    return broadcast_all(in);
  if (is_reduction(op))
    return reduce(attrs, in[0]);
  switch (op) {
  case expr_op::argmax:
  case expr_op::argmin: return arg_reduce(attrs, in[0]);
  case expr_op::reshape: return movement::reshape(attrs, in[0]);
  case expr_op::index: {
    if (!in[0].has_rank())
      return shape::unknown_rank();
    HEADRACE_ASSIGN(auto plan, plan_index(attrs.slices, in[0]));
    return shape{std::move(plan.dims)};
  }
  case expr_op::stack: return movement::stack(attrs, in);
  case expr_op::concat: return movement::concat(attrs, in);
  case expr_op::transpose: return movement::transpose(attrs, in[0]);
  case expr_op::expand_dims: return movement::expand_dims(attrs, in[0]);
  case expr_op::squeeze: return movement::squeeze(attrs, in[0]);
  case expr_op::shape_of:
    return shape{in[0].has_rank() ? static_cast<int64_t>(in[0].rank()) : unknown};
  case expr_op::size: return shape{};
  case expr_op::fill: return movement::fill(attrs, in[0]);
  case expr_op::gather: return movement::gather(attrs, in[0], in[1]);
  case expr_op::tile: return movement::tile(attrs, in[0]);
  case expr_op::pad: return movement::pad(attrs, in[0], in[1]);
  case expr_op::roll: return movement::roll(attrs, in[0]);
  case expr_op::string_split: return split(in[0]);
  case expr_op::string_reduce_join: return reduce_join(in[0]);
  case expr_op::decode_raw: {
    if (!in[0].has_rank())
      return in[0];
    std::vector<int64_t> dims{in[0].dims().begin(), in[0].dims().end()};
    dims.push_back(unknown);
    return shape{std::move(dims)};
  }
  default: return internal_error("no shape rule");
  }
}

} // namespace headrace::detail
