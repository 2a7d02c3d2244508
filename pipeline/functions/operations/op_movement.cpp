#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/moves.hpp"

namespace headrace::detail {

namespace {

struct sixteen_bytes {
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

/// All rows have one shape, so the same runs serve every row.
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
  default: copy_rows(reinterpret_cast<sixteen_bytes*>(out.data()), call, plan); break;
  }
  return column::dense(type, std::move(plan.dims), call.rows, std::move(out).freeze());
}

/// Moves one row by the plan made for it.
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

} // namespace

column run_movement(const op_call& call) {
  const auto& node = call.node;
  std::vector<shape> shapes(call.inputs.size());
  const auto plan_row = [&](size_t r) {
    for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = call.inputs[i].shape_of(r);
    return plan_moves(node.op, node.attrs, shapes);
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

} // namespace headrace::detail
