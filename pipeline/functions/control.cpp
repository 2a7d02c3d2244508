#include "headrace/pipeline/functions/control.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/representation/loop.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

expr_structure variables_of(const std::shared_ptr<const function_scope>& scope,
                            const expr_structure& first, std::span<const shape> invariants) {
  if (!invariants.empty() && invariants.size() != first.leaves().size())
    throw error{invalid_argument(fmt::format("while_loop: {} shape invariants for {} variables",
                                             invariants.size(), first.leaves().size()))};
  std::vector<expr> leaves;
  for (size_t i = 0; i < first.leaves().size(); ++i) {
    auto spec = first.leaves()[i].spec();
    if (!invariants.empty()) {
      if (!invariants[i].accepts(spec.dims))
        throw error{invalid_argument(
          fmt::format("while_loop: variable {} is {}, which the shape invariant {} does not allow",
                      i, to_string(spec), to_string(invariants[i])))};
      spec.dims = invariants[i];
    }
    leaves.emplace_back(make_loop_variable(scope, static_cast<int64_t>(i), std::move(spec)));
  }
  return {first.layout(), std::move(leaves)};
}

} // namespace

open_loop::open_loop(const expr_structure& first, std::optional<int64_t> maximum_iterations,
                     std::span<const shape> invariants)
  : scope_(std::make_shared<const loop_scope>()),
    variables_(variables_of(scope_, first, invariants)),
    most_steps_(maximum_iterations.value_or(-1)) {
  if (maximum_iterations && *maximum_iterations < 0)
    throw error{invalid_argument(
      fmt::format("while_loop: maximum_iterations is {}; it must be 0 or more", most_steps_))};
  for (const auto& leaf : first.leaves()) first_.push_back(leaf.node());
}

expr_structure open_loop::finish(const expr& condition, const expr_structure& after) const {
  if (after.layout() != variables_.layout())
    throw error{invalid_argument(
      fmt::format("while_loop: the variables are {} before a step and {} after it; they must have "
                  "one structure",
                  to_string(variables_.spec()), to_string(after.spec())))};
  std::vector<expr_ptr> variables, next;
  for (size_t i = 0; i < after.leaves().size(); ++i) {
    const auto& variable = variables_.leaves()[i];
    const auto& leaf = after.leaves()[i];
    variables.push_back(variable.node());
    next.push_back(leaf.is_literal() ? same_type("while_loop", {variable, leaf})[1] : leaf.node());
  }
  auto made = make_loop(scope_, variables, first_, condition.node(), next, most_steps_);
  if (!made)
    throw error{made.status()};
  std::vector<expr> leaves;
  for (auto& x : *made) leaves.emplace_back(std::move(x));
  return {variables_.layout(), std::move(leaves)};
}

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y) {
  if (x.layout() != y.layout())
    throw error{invalid_argument(fmt::format("cond: the branches are {} and {}; they must have "
                                             "one structure",
                                             to_string(x.spec()), to_string(y.spec())))};
  std::vector<expr> leaves;
  for (size_t i = 0; i < x.leaves().size(); ++i) {
    auto branches = same_type("cond", {x.leaves()[i], y.leaves()[i]});
    leaves.push_back(apply(expr_op::cond, {condition.node(), branches[0], branches[1]}));
  }
  return {x.layout(), std::move(leaves)};
}

} // namespace headrace::detail
