#include "headrace/pipeline/functions/representation/library.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

result<tensor_spec> infer_cond(const library_operands& in) {
  if (in[0].type != dtype::boolean || (in[0].dims.has_rank() && !in[0].dims.is_scalar()))
    return invalid_argument(
      fmt::format("the condition is {}; it must be a bool scalar", to_string(in[0])));
  if (in[1].type != in[2].type)
    return invalid_argument(
      fmt::format("the branches are {} and {}; cast one", to_string(in[1]), to_string(in[2])));
  return tensor_spec{in[1].type, shape::join(in[1].dims, in[2].dims)};
}

column run_cond(const op_call& call) {
  const auto type = call.node.spec.type;
  size_t rank = std::max(call.inputs[1].data->rank(), call.inputs[2].data->rank());
  const auto nothing = shape_of_nothing(call.node.spec, rank);
  column_builder out{type, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    const auto decides = row_values<bool>(call.inputs[0], r);
    if (call.skips(r) || decides.size() != 1) {
      if (!call.skips(r))
        call.fail(r, invalid_argument("the condition must be a bool scalar"));
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto& in = call.inputs[decides[0] ? 1 : 2];
    const auto dims = in.shape_of(r);
    const auto first = static_cast<size_t>(in.first_value(r));
    const auto n = static_cast<size_t>(*dims.elements());
    if (type == dtype::string)
      for (size_t i = first; i < first + n; ++i) out.add_string(in.data->string(i));
    else if (n != 0)
      std::memcpy(out.extend(n), in.data->value_buffer().data() + first * size_of(type),
                  n * size_of(type));
    out.end_row(dims);
  }
  return std::move(out).finish();
}

} // namespace

std::span<const library_function> control_functions() {
  static constexpr library_function functions[] = {
    {expr_op::cond, "cond", 3, 3, infer_cond, run_cond},
  };
  return functions;
}

} // namespace headrace::detail
