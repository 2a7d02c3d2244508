#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include "headrace/pipeline/functions/representation/infer.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <fmt/format.h>

namespace headrace {

std::string_view to_string(expr_op op) noexcept {
  switch (op) {
  case expr_op::parameter: return "parameter";
  case expr_op::constant: return "constant";
  case expr_op::add: return "add";
  case expr_op::subtract: return "subtract";
  case expr_op::multiply: return "multiply";
  case expr_op::divide: return "divide";
  case expr_op::floor_divide: return "floor_div";
  case expr_op::modulo: return "modulo";
  case expr_op::negate: return "negate";
  case expr_op::absolute: return "abs";
  case expr_op::minimum: return "minimum";
  case expr_op::maximum: return "maximum";
  case expr_op::power: return "pow";
  case expr_op::floor_modulo: return "floor_mod";
  case expr_op::square: return "square";
  case expr_op::sqrt: return "sqrt";
  case expr_op::exp: return "exp";
  case expr_op::log: return "log";
  case expr_op::tanh: return "tanh";
  case expr_op::floor: return "floor";
  case expr_op::ceil: return "ceil";
  case expr_op::round: return "round";
  case expr_op::sign: return "sign";
  case expr_op::sin: return "sin";
  case expr_op::cos: return "cos";
  case expr_op::is_nan: return "is_nan";
  case expr_op::equal: return "equal";
  case expr_op::not_equal: return "not_equal";
  case expr_op::less: return "less";
  case expr_op::less_equal: return "less_equal";
  case expr_op::greater: return "greater";
  case expr_op::greater_equal: return "greater_equal";
  case expr_op::logical_and: return "logical_and";
  case expr_op::logical_or: return "logical_or";
  case expr_op::logical_not: return "logical_not";
  case expr_op::bit_and: return "bit_and";
  case expr_op::bit_or: return "bit_or";
  case expr_op::bit_xor: return "bit_xor";
  case expr_op::shift_left: return "shift_left";
  case expr_op::shift_right: return "shift_right";
  case expr_op::where: return "where";
  case expr_op::cast: return "cast";
  case expr_op::reduce_sum: return "reduce_sum";
  case expr_op::reduce_mean: return "reduce_mean";
  case expr_op::reduce_max: return "reduce_max";
  case expr_op::reduce_min: return "reduce_min";
  case expr_op::reduce_prod: return "reduce_prod";
  case expr_op::reduce_all: return "reduce_all";
  case expr_op::reduce_any: return "reduce_any";
  case expr_op::argmax: return "argmax";
  case expr_op::argmin: return "argmin";
  case expr_op::reshape: return "reshape";
  case expr_op::index: return "index";
  case expr_op::stack: return "stack";
  case expr_op::concat: return "concat";
  case expr_op::transpose: return "transpose";
  case expr_op::expand_dims: return "expand_dims";
  case expr_op::squeeze: return "squeeze";
  case expr_op::shape_of: return "shape_of";
  case expr_op::size: return "size";
  case expr_op::fill: return "fill";
  case expr_op::gather: return "gather";
  case expr_op::string_length: return "strings.length";
  case expr_op::string_upper: return "strings.upper";
  case expr_op::string_lower: return "strings.lower";
  case expr_op::string_split: return "strings.split";
  case expr_op::string_join: return "strings.join";
  case expr_op::to_number: return "strings.to_number";
  case expr_op::as_string: return "strings.as_string";
  case expr_op::string_strip: return "strings.strip";
  case expr_op::string_reduce_join: return "strings.reduce_join";
  case expr_op::decode_raw: return "decode_raw";
  case expr_op::parse_example: return "parse_example";
  case expr_op::parse_sequence_example: return "parse_sequence_example";
  case expr_op::tile: return "tile";
  case expr_op::pad: return "pad";
  case expr_op::roll: return "roll";
  default: break;
  }
  const auto* function = detail::find_library_function(op);
  return function != nullptr ? function->name : "unknown function";
}

result<expr_ptr> make_expr(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs, dtype type) {
  for (const auto& input : inputs)
    if (!input)
      return invalid_argument(fmt::format("{}: an operand is missing", to_string(op)));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->spec.is_dataset())
      return invalid_argument(fmt::format("{}: operand {} is a {}; functions compute with tensors, "
                                          "which batch in a flat_map makes of "
                                          "a dataset's elements",
                                          to_string(op), i, to_string(inputs[i]->spec)));
  auto spec = detail::infer(op, inputs, attrs, type);
  if (!spec)
    return spec.status().with_context(to_string(op));
  expr_node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.spec = *std::move(spec);
  if (const auto* function = detail::find_library_function(op); function && function->prepare) {
    auto prepared = function->prepare(node);
    if (!prepared)
      return prepared.status().with_context(to_string(op));
    node.prepared = *std::move(prepared);
  }
  return expr_ptr{std::make_shared<const expr_node>(std::move(node))};
}

expr_ptr make_parameter(std::shared_ptr<const function_scope> scope, int64_t index,
                        tensor_spec spec) {
  expr_node node;
  node.op = expr_op::parameter;
  node.attrs.index = index;
  node.spec = std::move(spec);
  node.scope = std::move(scope);
  return std::make_shared<const expr_node>(std::move(node));
}

result<expr_ptr> make_constant(column value) {
  if (value.rows() != 1)
    return invalid_argument(
      fmt::format("constant: the value has {} rows; one is needed", value.rows()));
  auto dims = value.shape_of(0);
  if (!value.is_dense())
    value = value.is_string() ? column::strings(dims, 1, value.border_buffer(),
                                                value.value_buffer(), value.byte_base())
                              : column::dense(value.type(), dims, 1, value.value_buffer());
  expr_node node;
  node.op = expr_op::constant;
  node.spec = {value.type(), std::move(dims)};
  node.attrs.value = std::move(value);
  return expr_ptr{std::make_shared<const expr_node>(std::move(node))};
}

} // namespace headrace
