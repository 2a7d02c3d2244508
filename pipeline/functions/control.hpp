#pragma once

#include "headrace/pipeline/functions/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace headrace {

namespace detail {
struct loop_scope; // see representation/loop.hpp
}

namespace detail {

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y);

/// A loop that is being traced. `variables()` are expressions that stand for the loop's variables
/// at the beginning of a step.
class open_loop {
public:
  /// `invariants`: empty, or one for each variable. Throws `error` if there is another number of
  /// invariants, if `maximum_iterations` is negative, or if an invariant does not allow the shape
  /// of its variable in `first`.
  open_loop(const expr_structure& first, std::optional<int64_t> maximum_iterations,
            std::span<const shape> invariants);
  const expr_structure& variables() const noexcept { return variables_; }
  /// The variables after the loop. Throws `error` if `condition` is no bool scalar, if a step
  /// changes the structure of the variables or the dtype of a variable, if a step gives a variable
  /// a shape that the invariant of the variable (without invariants: the shape of its first value)
  /// does not allow, or if a variable has an unknown rank.
  expr_structure finish(const expr& condition, const expr_structure& after) const;

private:
  std::shared_ptr<const detail::loop_scope> scope_;
  std::vector<expr_ptr> first_;
  expr_structure variables_;
  int64_t most_steps_;
};

} // namespace detail

/// The result of `if_true()` for the elements in which the bool scalar `condition` is true, and of
/// `if_false()` for the other elements. `if_true` and `if_false` are lambdas without parameters
/// that use captured expressions. Both return the same structure (an `expr`, tuple or
/// `expr_structure`) with the same dtypes; shapes may differ. An element cannot fail because of the
/// branch that it does not choose, and functions that only that branch needs do not run for the
/// element, except cheap ones (arithmetic), `io::parse_example`, `io::parse_sequence_example` and
/// `io::decode_csv`.
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

/// Applies `body` to `variables` as long as `condition` (a bool scalar) is true for them. The
/// number of steps is determined for each element separately, and is at most `maximum_iterations`
/// if that is given. `condition` and `body` take the variables as one `expr`, or as an
/// `expr_structure`, and are called once, to trace them; `body` returns the variables with the same
/// dtypes. An element that fails in a step leaves the loop, and cannot fail because of steps that
/// it does not take. Stopping the iterator that runs the loop ends the loop.
///
/// A step must not change the shape of a variable, except in extents that are -1 in the variable's
/// shape in `invariants` (one shape for each variable, in depth-first order). The seeds of
/// `random::element_seed` differ from step to step.
template <class Variables, class Condition, class Body>
requires std::same_as<Variables, expr> || std::same_as<Variables, expr_structure>
  Variables while_loop(Condition&& condition, Body&& body, const Variables& variables,
                       std::optional<int64_t> maximum_iterations = std::nullopt,
                       const std::vector<shape>& invariants = {}) {
  const detail::open_loop loop{expr_structure{variables}, maximum_iterations, invariants};
  // The assertions of a step become part of the step's results, so they are checked in each step.
  const auto goes_on = [&](const auto& before) {
    const detail::assertion_scope assertions;
    const expr out{condition(before)};
    return assertions.tie_all(out);
  };
  const auto after = [&](const auto& before) {
    const detail::assertion_scope assertions;
    return assertions.tie_all(expr_structure{Variables{body(before)}});
  };
  const auto done = [&](const auto& before) {
    const auto holds = goes_on(before);
    return loop.finish(holds, after(before));
  };
  if constexpr (std::same_as<Variables, expr>)
    return done(loop.variables().single()).single();
  else
    return done(loop.variables());
}

} // namespace headrace
