#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/operand_rule.hpp"

#include <fmt/format.h>

/// Elementwise functions, which compute each value separately. For numbers they run in fused passes
/// (compiler/fused.hpp); functions that also take strings have a `run` for these (op_strings.cpp).
namespace headrace::detail {

namespace {

status check_where(const library_operands& in) {
  if (in[0].type != dtype::boolean)
    return invalid_argument(fmt::format("the condition is {}; it must be bool", to_string(in[0])));
  if (in[1].type != in[2].type)
    return invalid_argument(
      fmt::format("the branches are {} and {}; cast one", to_string(in[1]), to_string(in[2])));
  return {};
}

status check_cast(const library_operands& in) {
  if (in.type == dtype::string)
    return invalid_argument("strings are made by strings.as_string");
  if (is_complex(in[0].type) && !is_complex(in.type))
    return invalid_argument(fmt::format("{} does not become {}: the imaginary part would be lost",
                                        to_string(in[0].type), to_string(in.type)));
  return {};
}

constexpr operand_rule numbers{.takes = kinds::number};
constexpr operand_rule reals{.takes = kinds::real};
constexpr operand_rule signed_numbers{.takes = kinds::signed_number};
constexpr operand_rule floats{.takes = kinds::floating};
constexpr operand_rule tested_floats{.takes = kinds::floating, .type = gives::boolean};
constexpr operand_rule compared{.takes = kinds::any, .type = gives::boolean};
constexpr operand_rule ordered{.takes = kinds::ordered, .type = gives::boolean};
constexpr operand_rule bools{.takes = kinds::boolean};
constexpr operand_rule bits{.takes = kinds::bits};
constexpr operand_rule integers{.takes = kinds::integer};
constexpr operand_rule chosen{
  .takes = kinds::any, .type = gives::second, .one_type = false, .check = check_where};
constexpr operand_rule converted{
  .takes = kinds::castable, .type = gives::asked, .check = check_cast};

constexpr library_function functions[] = {
  {expr_op::add, "add", 2, 2, infer_by<numbers>},
  {expr_op::subtract, "subtract", 2, 2, infer_by<numbers>},
  {expr_op::multiply, "multiply", 2, 2, infer_by<numbers>},
  {expr_op::divide, "divide", 2, 2, infer_by<reals>},
  {expr_op::floor_divide, "floor_div", 2, 2, infer_by<reals>},
  {expr_op::modulo, "modulo", 2, 2, infer_by<reals>},
  {expr_op::negate, "negate", 1, 1, infer_by<signed_numbers>},
  {expr_op::absolute, "abs", 1, 1, infer_by<reals>},
  {expr_op::minimum, "minimum", 2, 2, infer_by<reals>},
  {expr_op::maximum, "maximum", 2, 2, infer_by<reals>},
  {expr_op::power, "pow", 2, 2, infer_by<reals>},
  {expr_op::floor_modulo, "floor_mod", 2, 2, infer_by<reals>},
  {expr_op::square, "square", 1, 1, infer_by<numbers>},
  {expr_op::sqrt, "sqrt", 1, 1, infer_by<floats>},
  {expr_op::exp, "exp", 1, 1, infer_by<floats>},
  {expr_op::log, "log", 1, 1, infer_by<floats>},
  {expr_op::tanh, "tanh", 1, 1, infer_by<floats>},
  {expr_op::floor, "floor", 1, 1, infer_by<floats>},
  {expr_op::ceil, "ceil", 1, 1, infer_by<floats>},
  {expr_op::round, "round", 1, 1, infer_by<floats>},
  {expr_op::sign, "sign", 1, 1, infer_by<reals>},
  {expr_op::sin, "sin", 1, 1, infer_by<floats>},
  {expr_op::cos, "cos", 1, 1, infer_by<floats>},
  {expr_op::is_nan, "is_nan", 1, 1, infer_by<tested_floats>},
  {expr_op::equal, "equal", 2, 2, infer_by<compared>, run_compare},
  {expr_op::not_equal, "not_equal", 2, 2, infer_by<compared>, run_compare},
  {expr_op::less, "less", 2, 2, infer_by<ordered>, run_compare},
  {expr_op::less_equal, "less_equal", 2, 2, infer_by<ordered>, run_compare},
  {expr_op::greater, "greater", 2, 2, infer_by<ordered>, run_compare},
  {expr_op::greater_equal, "greater_equal", 2, 2, infer_by<ordered>, run_compare},
  {expr_op::logical_and, "logical_and", 2, 2, infer_by<bools>},
  {expr_op::logical_or, "logical_or", 2, 2, infer_by<bools>},
  {expr_op::logical_not, "logical_not", 1, 1, infer_by<bools>},
  {expr_op::bit_and, "bit_and", 2, 2, infer_by<bits>},
  {expr_op::bit_or, "bit_or", 2, 2, infer_by<bits>},
  {expr_op::bit_xor, "bit_xor", 2, 2, infer_by<bits>},
  {expr_op::shift_left, "shift_left", 2, 2, infer_by<integers>},
  {expr_op::shift_right, "shift_right", 2, 2, infer_by<integers>},
  {expr_op::where, "where", 3, 3, infer_by<chosen>, run_where},
  {expr_op::cast, "cast", 1, 1, infer_by<converted>},
};

} // namespace

std::span<const library_function> elementwise_functions() { return functions; }

} // namespace headrace::detail
