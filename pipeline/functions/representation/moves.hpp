#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

namespace headrace::detail {

/// Values of one row of an input that are consecutive in a row of the result. In the input's row
/// the distance between them is `step`.
struct move_run {
  size_t input = 0;
  int64_t start = 0; ///< in the input's row
  int64_t step = 1;
  int64_t count = 0;
};

/// The runs of input values from which a function that only moves values makes a row of its
/// result.
struct move_plan {
  shape dims; ///< of the result
  std::vector<move_run> runs;
};

/// True if function `op` only changes the shape.
bool keeps_order(expr_op op) noexcept;

/// Plans one row of the result of a node of `movement_functions`, for inputs of these shapes. If
/// the shapes do not fit, returns an error without the function's name.
result<move_plan> plan_moves(const expr_node& of, std::span<const shape> inputs);

} // namespace headrace::detail
