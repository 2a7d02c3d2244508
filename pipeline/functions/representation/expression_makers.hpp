#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <optional>
#include <string_view>

namespace headrace::detail {

/// Checks the arguments and makes a node. The tracing API and the graph decoder both make their
/// nodes by this function, except parameters, constants and loop variables, which have their own
/// makers. The result's spec is inferred from the inputs; the shapes of a row broadcast by numpy's
/// rules, and unknown extents are allowed. `type` is the result's dtype for functions whose caller
/// chooses it (`cast`, `decode_raw`, `to_number` ...), and is not read by others. Errors are
/// `invalid_argument` and name the function, the argument and a correction: `add: operands are
/// float32[3] and int64[3]; cast one`. `function`: the name of the called function, if several
/// functions make nodes with this operation; empty: the name of the operation.
result<expr_ptr> make_expr(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs = {},
                           dtype type = dtype::int64, std::string_view function = {});

/// Makes the parameter that is component `index` of the argument of the function `scope`.
expr_ptr make_parameter(std::shared_ptr<const function_scope> scope, int64_t index,
                        tensor_spec spec);

/// Makes a constant. Fails if `value` does not have exactly one row.
result<expr_ptr> make_constant(column value);

/// The spec of the tensor to which a feature is parsed.
tensor_spec spec_of(const feature_spec& feature);

/// The shape that rows of these shapes broadcast to, by numpy's rules; nullopt if the shapes are
/// not compatible.
std::optional<shape> broadcast(const shape& a, const shape& b);

} // namespace headrace::detail
