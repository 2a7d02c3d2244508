#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <headrace/schemas/expression.capnp.h>

namespace headrace::detail {

/// The numbers by which a message refers to the inputs of an expression and, if the expression is a
/// parameter, to the function to which the parameter belongs.
struct expression_numbers {
  std::vector<uint32_t> inputs;
  uint32_t function = 0;
};
void encode(const expr_node& x, const expression_numbers& numbers, schema::Expression::Builder out);

/// Decodes an expression with the checks of `make_expr`; `inputs` are the inputs of the expression.
/// Parameters are not decoded here: the caller makes them, because the caller has their functions.
result<expr_ptr> decode_expression(schema::Expression::Reader in, std::vector<expr_ptr> inputs);

} // namespace headrace::detail
