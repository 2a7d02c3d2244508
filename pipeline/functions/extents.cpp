#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/of_extents.hpp"
#include "headrace/pipeline/functions/representation/computed_extents.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <fmt/format.h>

namespace headrace {

namespace {

/// The values of an integer constant; nullopt for anything else.
std::optional<std::vector<int64_t>> known_integers(const expr& x) {
  const auto* value = constant_of(x.node());
  if (value == nullptr || !is_integer(value->type()))
    return {};
  std::vector<int64_t> out;
  for (size_t i = 0; i < static_cast<size_t>(value->total_values()); ++i)
    out.push_back(detail::integer_at({value}, 0, i));
  return out;
}

} // namespace

extent::extent(const expr& computed) {
  const auto& spec = computed.spec();
  if (!is_integer(spec.type) || (spec.dims.has_rank() && !spec.dims.is_scalar()))
    throw error{invalid_argument(
      fmt::format("an extent is {}; an integer scalar is needed", to_string(spec)))};
  if (const auto known = known_integers(computed))
    known_ = known->at(0);
  else
    computed_ = computed;
}

extents::extents(const shape& known) {
  if (known.has_rank())
    parts_.assign(known.dims().begin(), known.dims().end());
  else
    parts_ = {extent{shape::unknown}};
}

extents::extents(const expr& vector) {
  const auto& spec = vector.spec();
  if (!is_integer(spec.type) || !spec.dims.has_rank() || spec.dims.rank() > 1)
    throw error{invalid_argument(
      fmt::format("extents are {}; an integer vector is needed", to_string(spec)))};
  if (spec.dims.rank() == 1 && spec.dims[0] == shape::unknown)
    throw error{invalid_argument(
      "how many extents there are must be known, as that is the rank; see ensure_shape")};
  if (const auto known = known_integers(vector)) {
    parts_.assign(known->begin(), known->end());
    return;
  }
  if (spec.dims.is_scalar()) {
    parts_.emplace_back(vector);
    return;
  }
  // If `stack` made the vector, the extents are its inputs, so that the constants among these are
  // known extents.
  const auto& node = *vector.node();
  for (int64_t i = 0; i < spec.dims[0]; ++i)
    parts_.emplace_back(node.op == detail::expr_op::stack && node.inputs.size() != 0
                          ? expr{node.inputs[static_cast<size_t>(i)]}
                          : vector[i]);
}

std::optional<std::vector<int64_t>> extents::known() const {
  std::vector<int64_t> out;
  for (const auto& part : parts_) {
    if (!part.known())
      return {};
    out.push_back(*part.known());
  }
  return out;
}

namespace detail {

expr of_extents(expr_op known, expr_op computed, const expr& x, const extents& dims) {
  expr_attrs attrs;
  if (auto numbers = dims.known()) {
    attrs.dims = *std::move(numbers);
    return apply(known, {x.node()}, std::move(attrs));
  }
  std::vector<expr_ptr> inputs{x.node()};
  for (const auto& part : dims.parts()) {
    attrs.dims.push_back(part.known().value_or(computed_extent));
    if (part.known() == computed_extent)
      throw error{
        invalid_argument(fmt::format("{}: an extent is {}", to_string(known), computed_extent))};
    if (!part.known())
      inputs.push_back(part.computed().node());
  }
  return apply(computed, std::move(inputs), std::move(attrs));
}

} // namespace detail

} // namespace headrace
