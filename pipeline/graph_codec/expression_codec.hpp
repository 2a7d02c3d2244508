#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <headrace/schemas/expression.capnp.h>

namespace headrace {

/// Numbers that stand for the expression's inputs, and for the function whose parameter it is.
struct expression_numbers {
  std::vector<uint32_t> inputs;
  uint32_t function = 0;
};
void encode(const expr_node& x, const expression_numbers& numbers, schema::Expression::Builder out);

/// The expression, checked as `make_expr` checks. `inputs` are its inputs; parameters are made by
/// the caller, who knows the functions.
result<expr_ptr> decode_expression(schema::Expression::Reader in, std::vector<expr_ptr> inputs);

} // namespace headrace
