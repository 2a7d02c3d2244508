#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <optional>

namespace headrace::detail {

/// Makes a checked node: the only way to get one (the tracing API and the graph decoder both come
/// here). The result's spec is inferred from the inputs; shapes broadcast by numpy's rules over one
/// row, unknown extents are allowed. `type` is the result's dtype for functions whose caller
/// chooses it (`cast`, `decode_raw`, `to_number` ...), and not read otherwise. Errors are
/// `invalid_argument` and name the function, the argument and what would be right: `add: operands
/// are float32[3] and int64[3]; cast one`.
/// Parameters and constants have makers of their own.
result<expr_ptr> make_expr(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs = {},
                           dtype type = dtype::int64);

/// Component `index` of the argument of `scope`.
expr_ptr make_parameter(std::shared_ptr<const function_scope> scope, int64_t index,
                        tensor_spec spec);

/// A constant. Fails if `value` has not exactly one row.
result<expr_ptr> make_constant(column value);

/// The spec of the tensor that one feature becomes.
tensor_spec spec_of(const feature_spec& feature);

/// The shape that rows of these shapes broadcast to, by numpy's rules; nullopt if they cannot.
std::optional<shape> broadcast(const shape& a, const shape& b);

} // namespace headrace::detail
