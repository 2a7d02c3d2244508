#pragma once

#include "headrace/pipeline/functions/expr.hpp"

namespace headrace::detail {

/// The function `known` of `x` and these extents; where some differ from element to element, the
/// function `computed`, of which they are operands.
expr of_extents(expr_op known, expr_op computed, const expr& x, const extents& dims);

} // namespace headrace::detail
