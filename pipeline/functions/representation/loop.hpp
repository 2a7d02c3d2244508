#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Loops as nodes. A loop of `n` variables is `n` nodes, one a result, with the same inputs: the
/// variables' first values, the captures (values of outside, which stay the same in all steps), the
/// condition, and each variable's value after a step. The condition and the values after a step are
/// computed in each step. They depend only on nodes of `expr_op::loop_variable` (the variables,
/// then the captures), on constants and on the row's seed.
namespace headrace::detail {

/// The inputs of a node of `expr_op::while_loop`, by their part.
struct loop_parts {
  std::span<const expr_ptr> variables; ///< their first values
  std::span<const expr_ptr> captures;
  std::span<const expr_ptr> condition; ///< one
  std::span<const expr_ptr> after;     ///< the variables' values after a step
  int64_t most_steps = -1;             ///< -1: any number
  bool seeds = false; ///< The last capture is a row's seed, of which each step makes its own.
};
loop_parts parts_of(const expr_node& loop);

/// The inputs of a node that are computed before it in the same program: all inputs, except the
/// condition and the values after a step of a loop.
std::span<const expr_ptr> operands_of(const expr_node& node);

/// Identity of a loop that is traced. A loop that was opened later, and is used in the steps of
/// this one, stands inside of it; one that was opened earlier stands before it.
struct loop_scope : function_scope {
  loop_scope();
  const uint64_t number; ///< loops that are opened later have higher ones
};

/// A variable of a loop that is being traced, which `scope` identifies.
expr_ptr make_loop_variable(std::shared_ptr<const function_scope> scope, int64_t index,
                            tensor_spec spec);

/// Makes the results of a loop whose condition and step use the variables of `scope`. The outside
/// values that they use become captures. Fails if the spec of a variable does not accept its first
/// value or that after a step (the error names the variable by its number), if the condition is no
/// bool scalar, or if a variable has an unknown rank.
result<std::vector<expr_ptr>> make_loop(const std::shared_ptr<const loop_scope>& scope,
                                        const std::vector<expr_ptr>& variables,
                                        std::vector<expr_ptr> first, const expr_ptr& condition,
                                        const std::vector<expr_ptr>& after, int64_t most_steps);

} // namespace headrace::detail
