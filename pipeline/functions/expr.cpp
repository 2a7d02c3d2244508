#include "headrace/pipeline/functions/expr.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/of_extents.hpp"

#include <fmt/format.h>

namespace headrace {
using namespace detail;

using detail::apply;

namespace {

expr binary(expr_op op, const expr& a, const expr& b) {
  return apply(op, detail::same_type(to_string(op), {a, b}));
}
expr unary(expr_op op, const expr& x) { return apply(op, {x.node()}); }
expr complex_part(const expr& x, int64_t which) {
  expr_attrs attrs;
  attrs.index = which;
  return apply(expr_op::complex_part, {x.node()}, std::move(attrs));
}

expr reduce(expr_op op, const expr& x, std::vector<int64_t> axes, bool keepdims) {
  expr_attrs attrs;
  attrs.flag = keepdims;
  attrs.axes = std::move(axes);
  return apply(op, {x.node()}, std::move(attrs));
}

expr along(expr_op op, std::vector<expr_ptr> inputs, int64_t axis) {
  expr_attrs attrs;
  attrs.index = axis;
  return apply(op, std::move(inputs), std::move(attrs));
}

expr with_dims(expr_op op, const expr& x, std::vector<int64_t> dims) {
  expr_attrs attrs;
  attrs.dims = std::move(dims);
  return apply(op, {x.node()}, std::move(attrs));
}

template <class T>
expr_ptr small_literal(T value) {
  return make_constant(column::of_scalars(std::span<const T>{&value, 1})).value();
}

} // namespace

expr::expr(float16 literal) : node_(small_literal(literal)), literal_(true) {}
expr::expr(bfloat16 literal) : node_(small_literal(literal)), literal_(true) {}
expr::expr(std::string_view literal)
  : node_(make_constant(column::of_strings(std::span{&literal, 1})).value()), literal_(true) {}

expr expr::part(int64_t index) const { return slice({at::index(index)}); }
expr expr::operator[](const expr& index) const { return gather(*this, index); }
expr expr::slice(int64_t start, int64_t stop, int64_t step) const {
  return slice({at::range(start, stop, step)});
}
expr expr::slice(std::vector<slice_spec> parts) const {
  expr_attrs attrs;
  attrs.slices = std::move(parts);
  return apply(expr_op::index, {node_}, std::move(attrs));
}

namespace at {

slice_spec index(int64_t i) { return {.what = slice_spec::kind::index, .start = i}; }
slice_spec all(int64_t step) { return {.step = step}; }
slice_spec range(int64_t start, int64_t stop, int64_t step) {
  return {.start = start, .stop = stop, .step = step, .has_start = true, .has_stop = true};
}
slice_spec from(int64_t start, int64_t step) {
  return {.start = start, .step = step, .has_start = true};
}
slice_spec until(int64_t stop, int64_t step) {
  return {.stop = stop, .step = step, .has_stop = true};
}
slice_spec new_axis() { return {.what = slice_spec::kind::new_axis}; }
slice_spec ellipsis() { return {.what = slice_spec::kind::ellipsis}; }

} // namespace at

// -- constants ----------------------------------------------------------------

namespace {

shape checked_dims(size_t values, std::optional<shape> dims) {
  if (!dims)
    return shape{static_cast<int64_t>(values)};
  if (dims->elements() != static_cast<int64_t>(values))
    throw error{invalid_argument(
      fmt::format("constant: {} values do not fill shape {}", values, to_string(*dims)))};
  return *std::move(dims);
}

} // namespace

template <plain_value T>
expr constant(std::span<const T> values, std::optional<shape> dims) {
  auto row = checked_dims(values.size(), std::move(dims));
  return constant(column::dense(dtype_of<T>, std::move(row), 1, buffer::copy_of(values)));
}
template expr constant(std::span<const bool>, std::optional<shape>);
template expr constant(std::span<const int8_t>, std::optional<shape>);
template expr constant(std::span<const int16_t>, std::optional<shape>);
template expr constant(std::span<const int32_t>, std::optional<shape>);
template expr constant(std::span<const int64_t>, std::optional<shape>);
template expr constant(std::span<const uint8_t>, std::optional<shape>);
template expr constant(std::span<const uint16_t>, std::optional<shape>);
template expr constant(std::span<const uint32_t>, std::optional<shape>);
template expr constant(std::span<const uint64_t>, std::optional<shape>);
template expr constant(std::span<const float16>, std::optional<shape>);
template expr constant(std::span<const bfloat16>, std::optional<shape>);
template expr constant(std::span<const float>, std::optional<shape>);
template expr constant(std::span<const double>, std::optional<shape>);
template expr constant(std::span<const std::complex<float>>, std::optional<shape>);
template expr constant(std::span<const std::complex<double>>, std::optional<shape>);

expr constant(const std::vector<bool>& values, std::optional<shape> dims) {
  mutable_buffer bytes{values.size()};
  for (size_t i = 0; i < values.size(); ++i) bytes.as<bool>()[i] = values[i];
  auto row = checked_dims(values.size(), std::move(dims));
  return constant(column::dense(dtype::boolean, std::move(row), 1, std::move(bytes).freeze()));
}

expr constant(const std::vector<std::string>& values, std::optional<shape> dims) {
  const std::vector<std::string_view> views{values.begin(), values.end()};
  auto row = checked_dims(values.size(), std::move(dims));
  return constant(column::of_strings(views).reshaped(std::move(row), 1));
}

expr constant(column one_row) { return expr{make_constant(std::move(one_row)).value()}; }

// -- arithmetic ---------------------------------------------------------------

expr operator+(const expr& a, const expr& b) {
  auto operands = detail::same_type("add", {a, b});
  if (operands[0]->spec.type == dtype::string && operands[1]->spec.type == dtype::string)
    return apply(expr_op::string_join, std::move(operands));
  return apply(expr_op::add, std::move(operands));
}
expr operator-(const expr& a, const expr& b) { return binary(expr_op::subtract, a, b); }
expr operator*(const expr& a, const expr& b) { return binary(expr_op::multiply, a, b); }
expr operator/(const expr& a, const expr& b) { return binary(expr_op::divide, a, b); }
expr operator%(const expr& a, const expr& b) { return binary(expr_op::modulo, a, b); }
expr operator-(const expr& x) { return unary(expr_op::negate, x); }
expr floor_div(const expr& a, const expr& b) { return binary(expr_op::floor_divide, a, b); }
expr floor_mod(const expr& a, const expr& b) { return binary(expr_op::floor_modulo, a, b); }
expr abs(const expr& x) {
  return is_complex(x.type()) ? complex_part(x, 2) : unary(expr_op::absolute, x);
}
expr square(const expr& x) { return unary(expr_op::square, x); }
expr sign(const expr& x) { return unary(expr_op::sign, x); }
expr minimum(const expr& a, const expr& b) { return binary(expr_op::minimum, a, b); }
expr maximum(const expr& a, const expr& b) { return binary(expr_op::maximum, a, b); }
expr pow(const expr& a, const expr& b) { return binary(expr_op::power, a, b); }
expr sqrt(const expr& x) { return unary(expr_op::sqrt, x); }
expr exp(const expr& x) { return unary(expr_op::exp, x); }
expr log(const expr& x) { return unary(expr_op::log, x); }
expr tanh(const expr& x) { return unary(expr_op::tanh, x); }
expr sin(const expr& x) { return unary(expr_op::sin, x); }
expr cos(const expr& x) { return unary(expr_op::cos, x); }
expr floor(const expr& x) { return unary(expr_op::floor, x); }
expr ceil(const expr& x) { return unary(expr_op::ceil, x); }
expr round(const expr& x) { return unary(expr_op::round, x); }
expr is_nan(const expr& x) { return unary(expr_op::is_nan, x); }

// -- comparison and logic -----------------------------------------------------

expr operator==(const expr& a, const expr& b) { return binary(expr_op::equal, a, b); }
expr operator!=(const expr& a, const expr& b) { return binary(expr_op::not_equal, a, b); }
expr operator<(const expr& a, const expr& b) { return binary(expr_op::less, a, b); }
expr operator<=(const expr& a, const expr& b) { return binary(expr_op::less_equal, a, b); }
expr operator>(const expr& a, const expr& b) { return binary(expr_op::greater, a, b); }
expr operator>=(const expr& a, const expr& b) { return binary(expr_op::greater_equal, a, b); }
expr operator&&(const expr& a, const expr& b) { return binary(expr_op::logical_and, a, b); }
expr operator||(const expr& a, const expr& b) { return binary(expr_op::logical_or, a, b); }
expr operator!(const expr& x) { return unary(expr_op::logical_not, x); }
expr operator&(const expr& a, const expr& b) { return binary(expr_op::bit_and, a, b); }
expr operator|(const expr& a, const expr& b) { return binary(expr_op::bit_or, a, b); }
expr operator^(const expr& a, const expr& b) { return binary(expr_op::bit_xor, a, b); }
expr operator<<(const expr& a, const expr& b) { return binary(expr_op::shift_left, a, b); }
expr operator>>(const expr& a, const expr& b) { return binary(expr_op::shift_right, a, b); }

// -- choice and conversion ----------------------------------------------------

expr where(const expr& condition, const expr& x, const expr& y) {
  auto branches = detail::same_type("where", {x, y});
  return apply(expr_op::where, {condition.node(), branches[0], branches[1]});
}
expr cast(const expr& x, dtype type) { return apply(expr_op::cast, {x.node()}, {}, type); }

// -- reductions ---------------------------------------------------------------

expr reduce_sum(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_sum, x, std::move(axes), keepdims);
}
expr reduce_mean(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_mean, x, std::move(axes), keepdims);
}
expr reduce_max(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_max, x, std::move(axes), keepdims);
}
expr reduce_min(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_min, x, std::move(axes), keepdims);
}
expr reduce_prod(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_prod, x, std::move(axes), keepdims);
}
expr reduce_all(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_all, x, std::move(axes), keepdims);
}
expr reduce_any(const expr& x, std::vector<int64_t> axes, bool keepdims) {
  return reduce(expr_op::reduce_any, x, std::move(axes), keepdims);
}
expr argmax(const expr& x, int64_t axis) { return reduce(expr_op::argmax, x, {axis}, false); }
expr argmin(const expr& x, int64_t axis) { return reduce(expr_op::argmin, x, {axis}, false); }

// -- shape --------------------------------------------------------------------

expr reshape(const expr& x, const extents& dims) {
  return detail::of_extents(expr_op::reshape, expr_op::reshape_computed, x, dims);
}
expr stack(const std::vector<expr>& xs, int64_t axis) {
  return along(expr_op::stack, detail::same_type("stack", xs), axis);
}
expr concat(const std::vector<expr>& xs, int64_t axis) {
  return along(expr_op::concat, detail::same_type("concat", xs), axis);
}
expr transpose(const expr& x, std::vector<int64_t> permutation) {
  if (permutation.empty() && x.dims().has_rank())
    for (auto axis = static_cast<int64_t>(x.dims().rank()); axis > 0; --axis)
      permutation.push_back(axis - 1);
  return with_dims(expr_op::transpose, x, std::move(permutation));
}
expr expand_dims(const expr& x, int64_t axis) {
  return along(expr_op::expand_dims, {x.node()}, axis);
}
expr squeeze(const expr& x, std::vector<int64_t> axes) {
  return reduce(expr_op::squeeze, x, std::move(axes), false);
}
expr shape_of(const expr& x) { return unary(expr_op::shape_of, x); }
expr size(const expr& x) { return unary(expr_op::size, x); }
expr fill(const extents& dims, const expr& scalar) {
  return detail::of_extents(expr_op::fill, expr_op::fill_computed, scalar, dims);
}
expr gather(const expr& x, const expr& indices, int64_t axis) {
  return along(expr_op::gather, {x.node(), indices.node()}, axis);
}
expr gather(const expr& x, const expr& indices, int64_t axis, int64_t batch_dims) {
  if (batch_dims == 0)
    return gather(x, indices, axis);
  expr_attrs attrs;
  attrs.index = axis;
  attrs.dims = {batch_dims};
  return apply(expr_op::gather_batches, {x.node(), indices.node()}, std::move(attrs));
}

} // namespace headrace
