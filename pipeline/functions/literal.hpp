#pragma once

#include "headrace/pipeline/functions/expr.hpp"

/// The conversion of C++ literals to the dtype of the other operands.
namespace headrace::detail {

/// The constant `literal` converted to `type`. If its value does not fit `type`, fails with
/// `invalid_argument`, which names `function`. @pre `literal.is_literal()`
result<expr_ptr> adapt_literal(std::string_view function, const expr& literal, dtype type);

/// The nodes of `operands`, with literals adapted to the dtype of the first operand that is no
/// literal; if all are literals, to the widest of their dtypes. Throws `error` if a literal does
/// not fit. Does not compare the dtypes of the other operands: `make_expr` compares them.
std::vector<expr_ptr> same_type(std::string_view function, std::vector<expr> operands);

/// Makes a node by `make_expr`. Throws `error` if that fails. `function`: see `make_expr`.
expr apply(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs = {},
           dtype type = dtype::int64, std::string_view function = {});

} // namespace headrace::detail
