#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

namespace headrace::detail {

/// Values of one row of an input that follow each other in a row of the result.
struct move_run {
  size_t input = 0;
  int64_t start = 0; ///< in the input's row
  int64_t step = 1;
  int64_t count = 0;
};

/// Where the values of a row come from when a function only moves values.
struct move_plan {
  shape dims; ///< of the result
  std::vector<move_run> runs;
};

/// Is `op` a function whose result is made of its inputs' values, at places that only the shapes
/// decide?
bool is_movement(expr_op op) noexcept;
/// Does it only change the shape?
bool keeps_order(expr_op op) noexcept;

/// Plans `op` for rows of these shapes. Fails (without the function's name) if they do not fit.
result<move_plan> plan_moves(expr_op op, const expr_attrs& attrs, std::span<const shape> inputs);

} // namespace headrace::detail
