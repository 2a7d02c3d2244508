#include "headrace/pipeline/functions/assertions.hpp"

#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/math.hpp"

#include <limits>
#include <utility>

namespace headrace::detail {

namespace {

thread_local assertion_scope* innermost = nullptr;

/// Returns a check of `x`. `rest` contains the condition, and then the values that the error shows.
expr check_of(const expr& x, std::vector<expr_ptr> rest, expr_attrs attrs) {
  rest.insert(rest.begin(), x.node());
  return apply(expr_op::check, std::move(rest), std::move(attrs));
}

} // namespace

expr tied(const expr& x, const expr& assertion) {
  const auto& node = *assertion.node();
  if (node.op == expr_op::check)
    return check_of(x, {node.inputs.begin() + 1, node.inputs.end()}, node.attrs);
  expr_attrs attrs;
  if (node.op == expr_op::check_numerics) {
    const expr value{node.inputs[0]};
    attrs.text = node.attrs.text;
    attrs.texts = {"debugging.check_numerics", "x"};
    const auto finite = abs(value) < expr{std::numeric_limits<double>::infinity()};
    return check_of(x, {finite.node(), value.node()}, std::move(attrs));
  }
  // Any other assertion is about the shape, and fails by itself when it is evaluated. So that it is
  // evaluated, it becomes an operand of a condition that is always true.
  attrs.texts = {"debugging"};
  const auto dims = apply(expr_op::shape_of, {assertion.node()});
  return check_of(x, {(dims >= expr{0}).node()}, std::move(attrs));
}

assertion_scope::assertion_scope() : outer_(std::exchange(innermost, this)) {}

assertion_scope::~assertion_scope() { innermost = outer_; }

assertion_scope* assertion_scope::current() noexcept { return innermost; }

expr assertion_scope::tie_all(expr x) const {
  for (const auto& [made, branches] : made_) {
    auto out = tied(x, made);
    for (auto at = branches.rbegin(); at != branches.rend(); ++at)
      out = make_cond(at->condition, at->taken ? out : x, at->taken ? x : out).single();
    x = std::move(out);
  }
  return x;
}

expr_structure assertion_scope::tie_all(const expr_structure& x) const {
  auto leaves = x.leaves();
  if (!leaves.empty())
    leaves.front() = tie_all(leaves.front());
  return {x.layout(), std::move(leaves)};
}

assertion_branch::assertion_branch(const expr& condition, bool taken)
  : of_(assertion_scope::current()) {
  if (of_ != nullptr)
    of_->branches_.push_back({condition, taken});
}

assertion_branch::~assertion_branch() {
  if (of_ != nullptr)
    of_->branches_.pop_back();
}

} // namespace headrace::detail
