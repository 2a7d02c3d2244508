#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

namespace headrace::detail {

/// Values of one row of an input, `step` values apart, that are consecutive in a row of the result.
struct move_run {
  size_t input = 0;
  int64_t start = 0; ///< in the input's row
  int64_t step = 1;
  int64_t count = 0;
};

/// For a function that only moves values: where the values of a row come from.
struct move_plan {
  shape dims; ///< of the result
  std::vector<move_run> runs;
};

/// True if function `op` only changes the shape.
bool keeps_order(expr_op op) noexcept;

/// Plans a node of `movement_functions` for rows of these shapes. Fails (without the function's
/// name) if they do not fit.
result<move_plan> plan_moves(const expr_node& of, std::span<const shape> inputs);

} // namespace headrace::detail
