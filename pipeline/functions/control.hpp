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

/// A loop that is being traced: `variables` stand for the loop's variables before a step.
class open_loop {
public:
  /// Throws `error` if the bound or an invariant is not allowed.
  open_loop(const expr_structure& first, std::optional<int64_t> maximum_iterations,
            std::span<const shape> invariants);
  const expr_structure& variables() const noexcept { return variables_; }
  /// The variables after the loop. Throws `error` if a step changes a dtype or shape.
  expr_structure finish(const expr& condition, const expr_structure& after) const;

private:
  std::shared_ptr<const detail::loop_scope> scope_;
  std::vector<expr_ptr> first_;
  expr_structure variables_;
  int64_t most_steps_;
};

} // namespace detail

/// Gives `if_true()` in the elements in which the bool scalar `condition` is true, and `if_false()`
/// in the others. Both are lambdas without parameters that use captured expressions, and give one
/// structure (an `expr`, tuple or `expr_structure`) with the same dtypes; shapes may differ. An
/// element cannot fail because of the branch that is not chosen, and functions that only this
/// branch needs do not run for it, except cheap ones (arithmetic), `io::parse_example`,
/// `io::parse_sequence_example` and `io::decode_csv`.
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

/// Applies `body` to `variables` as long as `condition` (a bool scalar) is true for them: each
/// element as often as its own values require, and at most `maximum_iterations` times if that is
/// given. Both take the variables as one `expr`, or as an `expr_structure`, and are called once;
/// `body` returns the variables with the same dtypes. An element that fails in a step leaves the
/// loop, and cannot fail because of steps that it does not take. A loop that does not end is ended
/// by the stop of the iterator that runs it.
///
/// A variable's shape must not change in a step, unless `invariants` (one a variable, in
/// depth-first order) has an extent of -1 there. Random numbers by element differ from step to
/// step.
template <class Variables, class Condition, class Body>
requires std::same_as<Variables, expr> || std::same_as<Variables, expr_structure>
  Variables while_loop(Condition&& condition, Body&& body, const Variables& variables,
                       std::optional<int64_t> maximum_iterations = std::nullopt,
                       const std::vector<shape>& invariants = {}) {
  const detail::open_loop loop{expr_structure{variables}, maximum_iterations, invariants};
  // What is asserted in a step belongs to that step.
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
