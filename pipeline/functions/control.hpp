#pragma once

#include "headrace/pipeline/functions/trace.hpp"

namespace headrace {

namespace detail {

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y);
/// Throws `error` if a loop of so many steps is not allowed.
void check_iterations(int64_t maximum_iterations);

} // namespace detail

/// What `if_true()` gives in the elements where the bool scalar `condition` holds, what
/// `if_false()` gives in the others. Both are lambdas without parameters that use what is around
/// them, and give one structure (an `expr`, tuple or `expr_structure`) of the same dtypes; shapes
/// may differ. In an element, only what is chosen can fail, and functions more costly than
/// arithmetic that only the other branch needs do not run.
template <class F, class G>
auto cond(const expr& condition, F&& if_true, G&& if_false) {
  const auto x = std::forward<F>(if_true)();
  const auto y = std::forward<G>(if_false)();
  auto out = detail::make_cond(condition, detail::to_structure(x), detail::to_structure(y));
  if constexpr (std::convertible_to<decltype(x), expr>)
    return out.single();
  else
    return out;
}

/// Applies `body` to `variables` as long as `condition` (a bool scalar) holds of them, at most
/// `maximum_iterations` (1 to 256) times: each element as often as its own values say. Both take
/// the variables as one `expr`, or as an `expr_structure`, and `body` gives them back with the same
/// dtypes. As with `cond`, steps that an element does not take cannot fail.
///
/// The steps become part of the graph one by one, which is what bounds their number: a body of many
/// functions may have to be repeated less often (a worker takes expressions nested 1,024 deep).
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
