#include "headrace/pipeline/functions/representation/operand_rule.hpp"
#include "headrace/pipeline/kernels/reduce.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// A row as an array [outer, n, inner], where `n` is the product of the reduced extents. A row has
/// this form only if the reduced axes are adjacent.
struct extents {
  size_t outer = 1, n = 1, inner = 1;
};
std::optional<extents> extents_of(const shape& row, const std::vector<bool>& gone) {
  extents out;
  int part = 0; // 0: outer axes, 1: reduced axes, 2: inner axes
  for (size_t i = 0; i < row.rank(); ++i) {
    const auto extent = static_cast<size_t>(row[i]);
    if (gone[i] && part == 2)
      return std::nullopt;
    if (gone[i])
      part = 1;
    else if (part == 1)
      part = 2;
    (part == 0 ? out.outer : part == 1 ? out.n : out.inner) *= extent;
  }
  return out;
}

/// Copies a row with its reduced axes moved to the end, in order.
template <class T>
void move_reduced_last(T* out, const T* in, const shape& row, const std::vector<bool>& gone) {
  const auto rank = row.rank();
  std::vector<int64_t> steps(rank), extents, order_steps;
  int64_t step = 1;
  for (auto i = rank; i-- > 0;) {
    steps[i] = step;
    step *= row[i];
  }
  for (bool reduced : {false, true})
    for (size_t i = 0; i < rank; ++i)
      if (gone[i] == reduced) {
        extents.push_back(row[i]);
        order_steps.push_back(steps[i]);
      }
  std::vector<int64_t> at(rank, 0);
  int64_t place = 0;
  for (auto left = *row.elements(); left > 0; --left) {
    *out++ = in[place];
    for (auto axis = rank; axis-- > 0;) {
      place += order_steps[axis];
      if (++at[axis] < extents[axis])
        break;
      place -= order_steps[axis] * extents[axis];
      at[axis] = 0;
    }
  }
}

/// Reduces `rows` rows of one shape at `in`.
void reduce_rows(const op_call& call, std::byte* out, const std::byte* in, const shape& row,
                 const std::vector<bool>& gone, size_t rows) {
  const auto type = call.inputs[0].data->type();
  auto whole = extents_of(row, gone);
  std::vector<std::byte> moved;
  if (!whole) {
    const auto values = static_cast<size_t>(*row.elements());
    moved.resize(values * size_of(type) * rows);
    whole.emplace();
    for (size_t i = 0; i < row.rank(); ++i)
      (gone[i] ? whole->n : whole->outer) *= static_cast<size_t>(row[i]);
    visit_plain(type, [&]<class T>(T) {
      for (size_t r = 0; r < rows; ++r)
        move_reduced_last(reinterpret_cast<T*>(moved.data()) + r * values,
                          reinterpret_cast<const T*>(in) + r * values, row, gone);
    });
    in = moved.data();
  }
  const auto op = call.node.op;
  if (op == expr_op::argmax || op == expr_op::argmin)
    kernels::find_arg_reduction(op == expr_op::argmax, type)(
      reinterpret_cast<int64_t*>(out), in, whole->outer * rows, whole->n, whole->inner);
  else
    kernels::find_reduction(op, type)(out, in, whole->outer * rows, whole->n, whole->inner);
}

column run_reduction(const op_call& call) {
  const auto& data = *call.inputs[0].data;
  const auto& attrs = call.node.attrs;
  const auto type = call.node.spec.type;
  const auto in_size = size_of(data.type());
  const auto* values = data.value_buffer().data();
  if (data.is_dense()) {
    const auto& row = data.row_shape();
    auto dims = result_shape(call.node, {&row, 1});
    if (!dims) {
      call.fail_all(dims.status());
      return column_of_nothing(call.node.spec, call.rows);
    }
    mutable_buffer out{static_cast<size_t>(*dims->elements()) * call.rows * size_of(type)};
    reduce_rows(call, out.data(), values, row, *reduced_axes(attrs.axes, row.rank()), call.rows);
    return column::dense(type, *std::move(dims), call.rows, std::move(out).freeze());
  }
  column_builder out{type, call.rows};
  const auto gone = reduced_axes(attrs.axes, data.rank());
  for (size_t r = 0; r < call.rows; ++r) {
    const auto row = data.shape_of(r);
    auto dims = gone ? result_shape(call.node, {&row, 1}) : result<shape>{gone.status()};
    if (!dims && !call.skips(r))
      call.fail(r, dims.status());
    if (!dims || call.skips(r)) {
      out.end_row_of_nothing(shape_of_nothing(call.node.spec, data.rank()));
      continue;
    }
    auto* place = out.extend(static_cast<size_t>(*dims->elements()));
    reduce_rows(call, place, values + static_cast<size_t>(data.first_value(r)) * in_size, row,
                *gone, 1);
    out.end_row(*dims);
  }
  return std::move(out).finish();
}

} // namespace

std::span<const library_function> reduction_functions() {
  static constexpr operand_rule numbers{.takes = kinds::number,
                                        .dims = of_first<shape_rules::reduce>};
  static constexpr operand_rule floats{.takes = kinds::float_number,
                                       .dims = of_first<shape_rules::reduce>};
  static constexpr operand_rule reals{.takes = kinds::real, .dims = of_first<shape_rules::reduce>};
  static constexpr operand_rule bools{.takes = kinds::boolean,
                                      .dims = of_first<shape_rules::reduce>};
  static constexpr operand_rule places{
    .takes = kinds::real, .dims = of_first<shape_rules::arg_reduce>, .type = gives::int64};
  static constexpr library_function functions[] = {
    {expr_op::reduce_sum, "reduce_sum", 1, 1, infer_by<numbers>, run_reduction},
    {expr_op::reduce_mean, "reduce_mean", 1, 1, infer_by<floats>, run_reduction},
    {expr_op::reduce_max, "reduce_max", 1, 1, infer_by<reals>, run_reduction},
    {expr_op::reduce_min, "reduce_min", 1, 1, infer_by<reals>, run_reduction},
    {expr_op::reduce_prod, "reduce_prod", 1, 1, infer_by<numbers>, run_reduction},
    {expr_op::reduce_all, "reduce_all", 1, 1, infer_by<bools>, run_reduction},
    {expr_op::reduce_any, "reduce_any", 1, 1, infer_by<bools>, run_reduction},
    {expr_op::argmax, "argmax", 1, 1, infer_by<places>, run_reduction},
    {expr_op::argmin, "argmin", 1, 1, infer_by<places>, run_reduction},
  };
  return functions;
}

} // namespace headrace::detail
