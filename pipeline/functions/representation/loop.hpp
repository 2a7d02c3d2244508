#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Loops as nodes. A loop of `n` variables is `n` nodes, one for each result, with the same inputs:
/// the variables' first values, the captures (values from outside of the loop, which are the same
/// in all steps), the condition, and each variable's value after a step. The condition and the
/// values after a step are computed in each step. They depend only on nodes of
/// `expr_op::loop_variable` (the variables, then the captures), on constants and on the row's seed.
namespace headrace::detail {

/// The inputs of a node of `expr_op::while_loop`, by their part.
struct loop_parts {
  std::span<const expr_ptr> variables; ///< their first values
  std::span<const expr_ptr> captures;
  std::span<const expr_ptr> condition; ///< one expression
  std::span<const expr_ptr> after;     ///< the variables' values after a step
  int64_t most_steps = -1;             ///< -1: any number
  bool seeds = false; ///< true: the last capture is the row's seed; each step derives its own seed
};
loop_parts parts_of(const expr_node& loop);

/// The inputs of a node that are computed before it in the same program: all inputs, except the
/// condition and the values after a step of a loop.
std::span<const expr_ptr> operands_of(const expr_node& node);

/// The identity of a traced loop. A loop that was opened later and is used in the steps of this
/// loop runs inside of it, in each step; a loop that was opened earlier runs before it.
struct loop_scope : function_scope {
  loop_scope();
  const uint64_t number; ///< a loop that is opened later has a higher number
};

/// A variable of the loop that `scope` identifies, while that loop is being traced. `scope` is null
/// for a variable in the expressions of a complete loop.
expr_ptr make_loop_variable(std::shared_ptr<const function_scope> scope, int64_t index,
                            tensor_spec spec);

/// Makes the results of a loop whose condition and step use the variables of `scope`. The values
/// from outside of the loop that the condition and step use become captures. Fails if the spec of a
/// variable does not accept the first value of the variable, or its value after a step (the error
/// contains the number of the variable), if the condition is no bool scalar, or if a variable has
/// an unknown rank.
result<std::vector<expr_ptr>> make_loop(const std::shared_ptr<const loop_scope>& scope,
                                        const std::vector<expr_ptr>& variables,
                                        std::vector<expr_ptr> first, const expr_ptr& condition,
                                        const std::vector<expr_ptr>& after, int64_t most_steps);

} // namespace headrace::detail
