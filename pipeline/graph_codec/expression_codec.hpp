#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <headrace/schemas/expression.capnp.h>

namespace headrace::detail {

/// The numbers of an expression's inputs, and of the function to which a parameter belongs.
struct expression_numbers {
  std::vector<uint32_t> inputs;
  uint32_t function = 0;
};
void encode(const expr_node& x, const expression_numbers& numbers, schema::Expression::Builder out);

/// The expression, with the checks of `make_expr`. `inputs` are its inputs; parameters are made by
/// the caller, which has the functions.
result<expr_ptr> decode_expression(schema::Expression::Reader in, std::vector<expr_ptr> inputs);

} // namespace headrace::detail
