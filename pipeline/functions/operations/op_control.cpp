#include "headrace/pipeline/functions/representation/library.hpp"

#include "headrace/pipeline/functions/representation/loop.hpp"

#include <fmt/format.h>
#include <unordered_set>

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
  // All rows of a column have one rank: that of the first row that has a value.
  size_t rank = std::max(call.inputs[1].data->rank(), call.inputs[2].data->rank());
  for (size_t r = 0; r < call.rows; ++r)
    if (const auto decides = row_values<bool>(call.inputs[0], r);
        !call.skips(r) && decides.size() == 1) {
      rank = call.inputs[decides[0] ? 1 : 2].data->rank();
      break;
    }
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
    if (dims.rank() != rank) {
      call.fail(r, unimplemented("the branches have different ranks, side by side"));
      out.end_row_of_nothing(nothing);
      continue;
    }
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

/// The spec of one result of a loop. The result may have the shape of the variable's first value,
/// or the shape of its value after a step.
result<tensor_spec> infer_while(const library_operands& in) {
  const auto& dims = in.attrs.dims;
  const auto given = static_cast<int64_t>(in.size());
  if (dims.size() != 3 || dims[0] < 1 || dims[0] > given || dims[1] < 0 || dims[1] > given
      || 2 * dims[0] + dims[1] + 1 != given || in.attrs.index < 0 || in.attrs.index >= dims[0]
      || (in.attrs.flag && dims[1] == 0))
    return invalid_argument(
      fmt::format("{} operands do not make a loop of its variables, captures and steps", given));
  const auto condition = static_cast<size_t>(dims[0] + dims[1]);
  if (in[condition].type != dtype::boolean || !in[condition].dims.accepts(shape{}))
    return invalid_argument(
      fmt::format("the condition is {}; it must be a bool scalar", to_string(in[condition])));
  const auto i = static_cast<size_t>(in.attrs.index);
  const auto& after = in[condition + 1 + i];
  if (in[i].type != after.type)
    return invalid_argument(fmt::format("variable {} is {} before a step and {} after it; cast one",
                                        i, to_string(in[i]), to_string(after)));
  return tensor_spec{in[i].type, shape::join(in[i].dims, after.dims)};
}

/// Checks that the steps of a loop use no variables, parameters and seeds except those of the loop
/// itself, and that the values of its variables fit the variables' specs. A graph that was decoded
/// from bytes may violate this.
result<std::shared_ptr<const void>> check_while(const expr_node& node) {
  const auto loop = parts_of(node);
  const auto n = loop.variables.size();
  std::vector<const expr_node*> open{loop.condition[0].get()};
  for (const auto& x : loop.after) open.push_back(x.get());
  std::unordered_set<const expr_node*> seen;
  const auto fits = [](const tensor_spec& variable, const tensor_spec& x) {
    return variable.type == x.type && variable.dims.accepts(x.dims);
  };
  while (!open.empty()) {
    const auto* x = open.back();
    open.pop_back();
    if (!seen.insert(x).second)
      continue;
    if (x->op == expr_op::parameter)
      return invalid_argument("a step uses a parameter that is no capture of the loop");
    if (x->op == expr_op::row_seed && !loop.seeds)
      return invalid_argument("a step uses a seed that is no capture of the loop");
    if (x->op == expr_op::loop_variable) {
      const auto i = static_cast<size_t>(x->attrs.index);
      if (x->attrs.index < 0 || i >= n + loop.captures.size()
          || !fits(x->spec, node.inputs[i]->spec) || (i < n && !fits(x->spec, loop.after[i]->spec)))
        return invalid_argument(
          fmt::format("a step uses variable {} as {}, which it is not", i, to_string(x->spec)));
    }
    for (const auto& input : operands_of(*x)) open.push_back(input.get());
  }
  return std::shared_ptr<const void>{};
}

result<tensor_spec> infer_variable(const library_operands& in) {
  for (auto dim : in.attrs.dims)
    if (dim < shape::unknown)
      return invalid_argument(fmt::format("an extent is {}", dim));
  return tensor_spec{in.type, in.attrs.flag ? shape::unknown_rank() : shape{in.attrs.dims}};
}

constexpr size_t most_parts = 1 << 16;

} // namespace

std::span<const library_function> control_functions() {
  static constexpr library_function functions[] = {
    {expr_op::cond, "cond", 3, 3, infer_cond, run_cond},
    // Loops run in compiler/loop_run.cpp, which also sets the values of the variables.
    {expr_op::while_loop, "while_loop", 3, most_parts, infer_while, nullptr, check_while},
    {expr_op::loop_variable, "loop_variable", 0, 0, infer_variable},
  };
  return functions;
}

} // namespace headrace::detail
