#pragma once

#include "headrace/pipeline/functions/expr.hpp"

namespace headrace::detail {

/// Applies the function `known` to `x`, with `dims` as attributes. If some extents differ from
/// element to element, the function `computed` is applied instead, with these extents as further
/// operands.
expr of_extents(expr_op known, expr_op computed, const expr& x, const extents& dims);

} // namespace headrace::detail
