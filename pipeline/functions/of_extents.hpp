#pragma once

#include "headrace/pipeline/functions/expr.hpp"

namespace headrace::detail {

/// Applies `known` to `x`, with `dims` as attributes; if some extents differ from element to
/// element, applies `computed` instead, of which these extents are further operands.
expr of_extents(expr_op known, expr_op computed, const expr& x, const extents& dims);

} // namespace headrace::detail
