#pragma once

#include "headrace/pipeline/functions/trace.hpp"

namespace headrace {

namespace detail {

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y);

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

} // namespace headrace
