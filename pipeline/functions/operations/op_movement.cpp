#include "headrace/pipeline/functions/representation/movement_shapes.hpp"
#include "headrace/pipeline/functions/representation/moves.hpp"
#include "headrace/pipeline/functions/representation/operand_rule.hpp"

namespace headrace::detail {

namespace {

struct wide_value {
  uint64_t low, high;
};

template <class T>
void copy_run(T* out, const T* in, const move_run& run) {
  if (run.step == 1) {
    std::memcpy(out, in + run.start, static_cast<size_t>(run.count) * sizeof(T));
    return;
  }
  auto at = run.start;
  for (int64_t i = 0; i < run.count; ++i, at += run.step) out[i] = in[at];
}

/// Copies the values of all rows to `out`. All rows have one shape, so the runs of `plan` are the
/// same for every row.
template <class T>
void copy_rows(T* out, const op_call& call, const move_plan& plan) {
  const auto width = static_cast<size_t>(*plan.dims.elements());
  const auto source = [&](const move_run& run) {
    return reinterpret_cast<const T*>(call.inputs[run.input].data->value_buffer().data());
  };
  const auto stride = [&](const move_run& run) {
    const auto& in = call.inputs[run.input];
    return in.uniform ? 0 : static_cast<size_t>(in.data->row_elements());
  };
  constexpr size_t few = 16;
  if (plan.runs.size() > few) {
    for (size_t r = 0; r < call.rows; ++r, out += width) {
      auto* place = out;
      for (const auto& run : plan.runs) {
        copy_run(place, source(run) + r * stride(run), run);
        place += run.count;
      }
    }
    return;
  }
  for (const auto& run : plan.runs) {
    const auto* in = source(run);
    const auto step = stride(run);
    if (run.count == 1) {
      in += run.start;
      for (size_t r = 0; r < call.rows; ++r) out[r * width] = in[r * step];
    } else {
      for (size_t r = 0; r < call.rows; ++r) copy_run(out + r * width, in + r * step, run);
    }
    out += run.count;
  }
}

column move_dense(const op_call& call, move_plan plan) {
  const auto type = call.node.spec.type;
  const auto size = size_of(type);
  mutable_buffer out{static_cast<size_t>(*plan.dims.elements()) * call.rows * size};
  switch (size) {
  case 1: copy_rows(reinterpret_cast<uint8_t*>(out.data()), call, plan); break;
  case 2: copy_rows(reinterpret_cast<uint16_t*>(out.data()), call, plan); break;
  case 4: copy_rows(reinterpret_cast<uint32_t*>(out.data()), call, plan); break;
  case 8: copy_rows(reinterpret_cast<uint64_t*>(out.data()), call, plan); break;
  default: copy_rows(reinterpret_cast<wide_value*>(out.data()), call, plan); break;
  }
  return column::dense(type, std::move(plan.dims), call.rows, std::move(out).freeze());
}

/// Appends row `r` of the result by the plan that was made for it.
void move_row(column_builder& out, const op_call& call, const move_plan& plan, size_t r) {
  const auto size = size_of(call.node.spec.type);
  for (const auto& run : plan.runs) {
    const auto& in = call.inputs[run.input];
    auto at = in.first_value(r) + run.start;
    if (in.data->is_string()) {
      for (int64_t i = 0; i < run.count; ++i, at += run.step)
        out.add_string(in.data->string(static_cast<size_t>(at)));
      continue;
    }
    const auto* from = in.data->value_buffer().data();
    auto* to = out.extend(static_cast<size_t>(run.count));
    if (run.step == 1) {
      std::memcpy(to, from + static_cast<size_t>(at) * size, static_cast<size_t>(run.count) * size);
      continue;
    }
    for (int64_t i = 0; i < run.count; ++i, at += run.step, to += size)
      std::memcpy(to, from + static_cast<size_t>(at) * size, size);
  }
  out.end_row(plan.dims);
}

column run_movement(const op_call& call) {
  const auto& node = call.node;
  std::vector<shape> shapes(call.inputs.size());
  const auto plan_row = [&](size_t r) {
    for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = call.inputs[i].shape_of(r);
    return plan_moves(node, shapes);
  };
  size_t rank = 0;
  for (const auto& in : call.inputs) rank = std::max(rank, in.data->rank());
  const auto nothing = shape_of_nothing(node.spec, rank);
  const bool dense = call.all_dense();
  result<move_plan> plan = move_plan{};
  if (dense) {
    plan = plan_row(0);
    if (!plan) {
      call.fail_all(plan.status());
      return column_of_nothing(node.spec, call.rows);
    }
    if (keeps_order(node.op))
      return call.inputs[0].data->reshaped(plan->dims, call.rows);
    if (node.spec.type != dtype::string)
      return move_dense(call, *std::move(plan));
  }
  column_builder out{node.spec.type, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    if (!dense)
      plan = plan_row(r);
    if (plan) {
      move_row(out, call, *plan, r);
    } else {
      call.fail(r, plan.status());
      out.end_row_of_nothing(nothing);
    }
  }
  return std::move(out).finish();
}

column run_shape(const op_call& call) {
  const auto& data = *call.inputs[0].data;
  const bool whole = call.node.op == expr_op::shape_of;
  const auto width = whole ? data.rank() : 1;
  mutable_buffer out{call.rows * width * sizeof(int64_t)};
  auto* to = out.as<int64_t>().data();
  for (size_t r = 0; r < call.rows; ++r) {
    if (!whole) {
      *to++ = data.first_value(r + 1) - data.first_value(r);
      continue;
    }
    const auto row = data.shape_of(r);
    for (auto dim : row.dims()) *to++ = dim;
  }
  shape dims;
  if (whole)
    dims = shape{static_cast<int64_t>(width)};
  return column::dense(dtype::int64, std::move(dims), call.rows, std::move(out).freeze());
}

} // namespace

std::span<const library_function> movement_functions() {
  using namespace movement;
  constexpr size_t any_number = SIZE_MAX;
  static constexpr operand_rule reshaped{.takes = kinds::any, .dims = of_first<reshape>};
  static constexpr operand_rule indexed{.takes = kinds::any, .dims = of_first<shape_rules::index>};
  static constexpr operand_rule stacked{.takes = kinds::any, .dims = stack};
  static constexpr operand_rule joined{.takes = kinds::any, .dims = concat};
  static constexpr operand_rule transposed{.takes = kinds::any, .dims = of_first<transpose>};
  static constexpr operand_rule expanded{.takes = kinds::any, .dims = of_first<expand_dims>};
  static constexpr operand_rule squeezed{.takes = kinds::any, .dims = of_first<squeeze>};
  static constexpr operand_rule filled{.takes = kinds::any, .dims = of_first<fill>};
  static constexpr operand_rule tiled{.takes = kinds::any, .dims = of_first<tile>};
  static constexpr operand_rule rolled{.takes = kinds::any, .dims = of_first<roll>};
  static constexpr operand_rule padded{
    .takes = kinds::any, .dims = [](const expr_attrs& attrs, std::span<const shape> in) {
      return pad(attrs, in[0], in[1]);
    }};
  static constexpr operand_rule extents{
    .takes = kinds::any,
    .dims = [](const expr_attrs&, std::span<const shape> in) -> result<shape> {
      return shape{in[0].has_rank() ? static_cast<int64_t>(in[0].rank()) : shape::unknown};
    },
    .type = gives::int64};
  static constexpr operand_rule number_of_values{
    .takes = kinds::any,
    .dims = [](const expr_attrs&, std::span<const shape>) -> result<shape> { return shape{}; },
    .type = gives::int64};
  static constexpr library_function functions[] = {
    {expr_op::reshape, "reshape", 1, 1, infer_by<reshaped>, run_movement},
    {expr_op::index, "index", 1, 1, infer_by<indexed>, run_movement},
    {expr_op::stack, "stack", 1, any_number, infer_by<stacked>, run_movement},
    {expr_op::concat, "concat", 1, any_number, infer_by<joined>, run_movement},
    {expr_op::transpose, "transpose", 1, 1, infer_by<transposed>, run_movement},
    {expr_op::expand_dims, "expand_dims", 1, 1, infer_by<expanded>, run_movement},
    {expr_op::squeeze, "squeeze", 1, 1, infer_by<squeezed>, run_movement},
    {expr_op::fill, "fill", 1, 1, infer_by<filled>, run_movement},
    {expr_op::tile, "tile", 1, 1, infer_by<tiled>, run_movement},
    {expr_op::pad, "pad", 2, 2, infer_by<padded>, run_movement},
    {expr_op::roll, "roll", 1, 1, infer_by<rolled>, run_movement},
    {expr_op::shape_of, "shape_of", 1, 1, infer_by<extents>, run_shape},
    {expr_op::size, "size", 1, 1, infer_by<number_of_values>, run_shape},
  };
  return functions;
}

} // namespace headrace::detail
