#pragma once

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

namespace headrace::detail {

/// The result of `op`, or what is wrong with its inputs or attributes (without the function's
/// name).
result<tensor_spec> infer(expr_op op, const std::vector<expr_ptr>& inputs, const expr_attrs& attrs,
                          dtype type);

} // namespace headrace::detail
