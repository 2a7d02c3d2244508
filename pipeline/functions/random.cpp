#include "headrace/pipeline/functions/random.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/of_extents.hpp"
#include "headrace/pipeline/functions/sequences.hpp"

#include <fmt/format.h>

namespace headrace::random {
using namespace detail;

using detail::apply;

namespace {

/// Applies `op`, a function that draws a tensor of shape `dims`. If some extents differ from
/// element to element, a vector with as many values is drawn and then reshaped. Its values are the
/// same as those of a tensor of known shape.
expr drawn(expr_op op, std::vector<expr_ptr> inputs, const extents& dims, dtype type,
           bool flag = false) {
  expr_attrs attrs;
  attrs.flag = flag;
  if (auto known = dims.known()) {
    attrs.dims = *std::move(known);
    return apply(op, std::move(inputs), std::move(attrs), type);
  }
  expr values{int64_t{1}};
  for (const auto& part : dims.parts())
    values = values * (part.known() ? expr{*part.known()} : cast<int64_t>(part.computed()));
  inputs.push_back(range(int64_t{0}, values).node());
  attrs.dims = {0};
  return detail::of_extents(expr_op::reshape, expr_op::reshape_computed,
                            apply(op, std::move(inputs), std::move(attrs), type), dims);
}

bool is_small(dtype type) { return type == dtype::float16 || type == dtype::bfloat16; }

/// `parameter`, a tensor of any number type, converted to `type`.
expr converted(const expr& parameter, dtype type) {
  return parameter.type() == type ? parameter : cast(parameter, type);
}

/// Floats in [0, 1). As in TensorFlow, the lowest bits of a random word are the mantissa's: 10 bits
/// for float16, 7 for bfloat16, 23 for float32. A float32 that is rounded could be 1.
expr uniform(const extents& dims, const expr& seed, dtype type) {
  if (!is_small(type))
    return drawn(expr_op::random_uniform, {seed.node()}, dims, type);
  const int32_t steps = type == dtype::float16 ? 1 << 10 : 1 << 7;
  const auto words = drawn(expr_op::random_uniform, {seed.node()}, dims, dtype::float32);
  const auto mantissa = cast<int32_t>(words * static_cast<float>(1 << 23)) & (steps - 1);
  return cast(cast<float>(mantissa) * (1.0f / static_cast<float>(steps)), type);
}

expr floats(expr_op op, const extents& dims, const expr& seed, dtype type, bool flag = false) {
  return drawn(op, {seed.node()}, dims, is_small(type) ? dtype::float32 : type, flag);
}

expr normal(const extents& dims, const expr& seed, const expr& mean, const expr& deviation,
            dtype type, bool truncated) {
  const auto x = floats(expr_op::random_normal, dims, seed, type, truncated);
  return converted(x * converted(deviation, x.type()) + converted(mean, x.type()), type);
}

} // namespace

expr stateless_uniform(const extents& dims, const expr& seed, const expr& low, const expr& high,
                       std::optional<dtype> wanted) {
  const auto bounds = detail::same_type("random.stateless_uniform", {low, high});
  const auto type = wanted.value_or(bounds[0]->spec.type);
  const expr from{bounds[0]}, to{bounds[1]};
  if (is_integer(type))
    return drawn(expr_op::random_integers,
                 {seed.node(), converted(from, type).node(), converted(to, type).node()}, dims,
                 type);
  const auto first = converted(from, type);
  return uniform(dims, seed, type) * (converted(to, type) - first) + first;
}

expr stateless_normal(const extents& dims, const expr& seed, const expr& mean,
                      const expr& deviation, dtype type) {
  return normal(dims, seed, mean, deviation, type, false);
}

expr stateless_truncated_normal(const extents& dims, const expr& seed, const expr& mean,
                                const expr& deviation, dtype type) {
  return normal(dims, seed, mean, deviation, type, true);
}

expr stateless_categorical(const expr& logits, int64_t samples, const expr& seed) {
  expr_attrs attrs;
  attrs.dims = {samples};
  return apply(expr_op::random_categorical, {seed.node(), logits.node()}, std::move(attrs));
}

expr element_seed(int64_t salt, bool same_in_each_iteration) {
  expr_attrs attrs;
  attrs.flag = same_in_each_iteration;
  return apply(expr_op::row_seed, {}, std::move(attrs)) ^ constant(std::vector<int64_t>{salt, 0});
}

expr fold_in(const expr& seed, int64_t data) {
  const auto& dims = seed.dims();
  if (dims.has_rank() && dims.rank() != 1)
    throw error{invalid_argument(
      fmt::format("random.fold_in: the seed is {}; a vector of two integers is needed",
                  to_string(seed.spec())))};
  const auto salted = cast<int64_t>(seed) ^ constant(std::vector<int64_t>{data, 0});
  // A seed is two int64, so two uint64 are drawn. They are shifted by one bit so that int64 holds
  // them.
  return cast<int64_t>(drawn(expr_op::random_bits, {salted.node()}, {2}, dtype::uint64) >> expr{1});
}

} // namespace headrace::random
