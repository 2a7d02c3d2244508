#include "headrace/pipeline/functions/math.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/of_extents.hpp"

#include <fmt/format.h>
#include <numeric>

namespace headrace {
using namespace detail;

using detail::apply;

namespace {

expr ordered(expr_op op, const expr& x, int64_t axis, bool descending, int64_t kept) {
  expr_attrs attrs;
  attrs.index = axis;
  attrs.flag = descending;
  attrs.dims = {kept};
  return apply(op, {x.node()}, std::move(attrs));
}

expr part_of(const expr& x, int64_t which) {
  expr_attrs attrs;
  attrs.index = which;
  return apply(expr_op::complex_part, {x.node()}, std::move(attrs));
}

expr padded(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, expr_ptr fill,
            pad_mode mode) {
  expr_attrs attrs;
  attrs.index = static_cast<int64_t>(mode);
  for (auto [before, after] : paddings) attrs.axes.insert(attrs.axes.end(), {before, after});
  return apply(expr_op::pad, {x.node(), std::move(fill)}, std::move(attrs));
}

expr_ptr zero_of(dtype type) {
  if (type == dtype::string)
    return expr{""}.node();
  return visit_plain(type, []<class T>(T) {
    const T zero{};
    return make_constant(column::of_scalars(std::span<const T>{&zero, 1})).value();
  });
}

expr with_last_two_swapped(const expr& x) {
  if (!x.dims().has_rank() || x.dims().rank() < 2)
    throw error{invalid_argument(fmt::format(
      "matmul: an operand of shape {} cannot be transposed; its rank must be known and at least 2",
      to_string(x.dims())))};
  std::vector<int64_t> axes(x.dims().rank());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transpose(x, std::move(axes));
}

expr running(expr_op op, const expr& x, int64_t axis, bool exclusive, bool reverse) {
  expr_attrs attrs;
  attrs.index = axis;
  attrs.flag = exclusive;
  attrs.dims = {reverse ? 1 : 0};
  return apply(op, {x.node()}, std::move(attrs));
}

} // namespace

expr one_hot(const expr& indices, int64_t depth, const expr& on, const expr& off, int64_t axis) {
  auto values = detail::same_type("one_hot", {on, off});
  expr_attrs attrs;
  attrs.index = axis;
  attrs.dims = {depth};
  return apply(expr_op::one_hot, {indices.node(), values[0], values[1]}, std::move(attrs));
}
expr sort(const expr& x, int64_t axis, bool descending) {
  return ordered(expr_op::sort, x, axis, descending, -1);
}
expr argsort(const expr& x, int64_t axis, bool descending) {
  return ordered(expr_op::argsort, x, axis, descending, -1);
}

expr tile(const expr& x, const extents& multiples) {
  return detail::of_extents(expr_op::tile, expr_op::tile_computed, x, multiples);
}
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, pad_mode mode) {
  return padded(x, paddings, zero_of(x.type()), mode);
}
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
         const expr& fill) {
  return padded(x, paddings, detail::same_type("pad", {x, fill})[1], pad_mode::constant);
}
expr reverse(const expr& x, const std::vector<int64_t>& axes) {
  auto out = x;
  for (auto axis : axes) {
    if (x.dims().has_rank()) {
      const auto rank = static_cast<int64_t>(x.dims().rank());
      if (axis < -rank || axis >= rank)
        throw error{
          invalid_argument(fmt::format("reverse: axis {} is not in [{}, {})", axis, -rank, rank))};
    }
    std::vector<slice_spec> parts;
    if (axis < 0)
      parts.push_back(at::ellipsis());
    for (int64_t i = 0; i < axis; ++i) parts.push_back(at::all());
    parts.push_back(at::all(-1));
    for (auto i = axis + 1; i < 0; ++i) parts.push_back(at::all());
    out = out.slice(std::move(parts));
  }
  return out;
}
expr roll(const expr& x, std::vector<int64_t> shifts, std::vector<int64_t> axes) {
  expr_attrs attrs;
  attrs.dims = std::move(shifts);
  attrs.axes = std::move(axes);
  return apply(expr_op::roll, {x.node()}, std::move(attrs));
}
expr slice(const expr& x, const expr& begin, std::vector<int64_t> sizes) {
  expr_attrs attrs;
  attrs.dims = std::move(sizes);
  return apply(expr_op::slice_at, {x.node(), begin.node()}, std::move(attrs));
}
expr slice(const expr& x, const expr& begin, const expr& sizes) {
  if (!x.dims().has_rank())
    throw error{invalid_argument("slice: the rank must be known; see ensure_shape")};
  expr_attrs attrs;
  attrs.dims.assign(x.dims().rank(), -1);
  return apply(expr_op::slice_at, {x.node(), begin.node(), sizes.node()}, std::move(attrs));
}
expr ensure_shape(const expr& x, const shape& dims) {
  expr_attrs attrs;
  attrs.flag = !dims.has_rank();
  attrs.dims.assign(dims.dims().begin(), dims.dims().end());
  return apply(expr_op::ensure_shape, {x.node()}, std::move(attrs));
}

expr clip_by_value(const expr& x, const expr& low, const expr& high) {
  const auto all = detail::same_type("clip_by_value", {x, low, high});
  return minimum(maximum(expr{all[0]}, expr{all[1]}), expr{all[2]});
}
expr matmul(const expr& a, const expr& b, bool transpose_a, bool transpose_b) {
  const auto x = transpose_a ? with_last_two_swapped(a) : a;
  const auto y = transpose_b ? with_last_two_swapped(b) : b;
  return apply(expr_op::matmul, {x.node(), y.node()});
}

namespace math {

expr cumsum(const expr& x, int64_t axis, bool exclusive, bool reverse) {
  return running(expr_op::cumsum, x, axis, exclusive, reverse);
}
expr cumprod(const expr& x, int64_t axis, bool exclusive, bool reverse) {
  return running(expr_op::cumprod, x, axis, exclusive, reverse);
}
expr real(const expr& x) { return is_complex(x.type()) ? part_of(x, 0) : x; }
expr imag(const expr& x) { return part_of(x, 1); }
top_k_result top_k(const expr& x, int64_t k) {
  if (k < 0)
    throw error{invalid_argument(fmt::format("math.top_k: k is {}; it must not be negative", k))};
  return {ordered(expr_op::sort, x, -1, true, k), ordered(expr_op::argsort, x, -1, true, k)};
}

} // namespace math

} // namespace headrace
