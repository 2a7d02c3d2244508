#pragma once

#include "headrace/pipeline/functions/trace.hpp"

namespace headrace {

namespace detail {

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y);
/// Throws `error` if a loop with this bound is not allowed.
void check_iterations(int64_t maximum_iterations);

} // namespace detail

/// Gives `if_true()` in the elements in which the bool scalar `condition` is true, and `if_false()`
/// in the others. Both are lambdas without parameters that use captured expressions, and give one
/// structure (an `expr`, tuple or `expr_structure`) with the same dtypes; shapes may differ. An
/// element cannot fail because of the branch that is not chosen, and functions more costly than
/// arithmetic that only this branch needs do not run.
template <class F, class G>
auto cond(const expr& condition, F&& if_true, G&& if_false) {
  const auto x = [&] {
    const detail::assertion_branch taken{condition, true};
    return std::forward<F>(if_true)();
  }();
  const auto y = [&] {
    const detail::assertion_branch taken{condition, false};
    return std::forward<G>(if_false)();
  }();
  auto out = detail::make_cond(condition, detail::to_structure(x), detail::to_structure(y));
  if constexpr (std::convertible_to<decltype(x), expr>)
    return out.single();
  else
    return out;
}

/// Applies `body` to `variables` as long as `condition` (a bool scalar) is true for them, at most
/// `maximum_iterations` (1 to 256) times: each element as often as its own values require. Both
/// take the variables as one `expr`, or as an `expr_structure`, and `body` returns them with the
/// same dtypes. As with `cond`, an element cannot fail because of steps that it does not take.
///
/// Each step becomes a part of the graph, so their number is bounded: a body of many functions may
/// have a lower bound (a worker accepts expressions nested 1,024 deep).
template <class Variables, class Condition, class Body>
requires std::same_as<Variables, expr> || std::same_as<Variables, expr_structure> Variables
while_loop(Condition&& condition, Body&& body, Variables variables, int64_t maximum_iterations) {
  detail::check_iterations(maximum_iterations);
  for (int64_t i = 0; i < maximum_iterations; ++i) {
    const Variables before = variables;
    variables = cond(
      expr{condition(before)}, [&] { return Variables{body(before)}; }, [&] { return before; });
  }
  return variables;
}

} // namespace headrace
