#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// Sets `out` to the indices of one row. An index that int64 does not hold becomes -1, which is out
/// of range.
void read_indices(const operand& indices, size_t r, std::vector<int64_t>& out) {
  const auto first = static_cast<size_t>(indices.first_value(r));
  const auto row = indices.row(r);
  const auto last = static_cast<size_t>(indices.data->first_value(row + 1));
  out.clear();
  visit_plain(indices.data->type(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const auto values = indices.data->template values<T>();
      for (auto i = first; i < last; ++i)
        out.push_back(std::in_range<int64_t>(values[i]) ? static_cast<int64_t>(values[i]) : -1);
    }
  });
}

void take_part(column_builder& out, const column& data, int64_t first, int64_t count) {
  if (count == 0)
    return;
  if (data.is_string()) {
    for (auto i = first; i < first + count; ++i)
      out.add_string(data.string(static_cast<size_t>(i)));
    return;
  }
  const auto size = size_of(data.type());
  const auto n = static_cast<size_t>(count);
  std::memcpy(out.extend(n), data.value_buffer().data() + static_cast<size_t>(first) * size,
              n * size);
}

} // namespace

column run_gather(const op_call& call) {
  const auto& node = call.node;
  const auto& data = *call.inputs[0].data;
  const auto rank = data.rank() + call.inputs[1].data->rank();
  const auto nothing = shape_of_nothing(node.spec, rank == 0 ? 0 : rank - 1);
  column_builder out{node.spec.type, call.rows};
  std::vector<int64_t> indices;
  shape last_rows[2];
  result<shape> dims = shape{};
  axis_layout parts;
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    const shape rows[2] = {call.inputs[0].shape_of(r), call.inputs[1].shape_of(r)};
    if (r == 0 || rows[0] != last_rows[0] || rows[1] != last_rows[1]) {
      dims = result_shape(node, rows);
      if (dims)
        parts = layout_along(rows[0], *normal_axis(node.attrs.index, rows[0].rank()));
      last_rows[0] = rows[0];
      last_rows[1] = rows[1];
    }
    status why = dims.status();
    if (why.ok()) {
      read_indices(call.inputs[1], r, indices);
      for (auto index : indices)
        if (why.ok() && (index < 0 || index >= parts.extent))
          why = invalid_argument(fmt::format("index {} is not in [0, {})", index, parts.extent));
    }
    if (!why.ok()) {
      call.fail(r, why);
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto base = call.inputs[0].first_value(r);
    for (int64_t o = 0; o < parts.outer; ++o)
      for (auto index : indices)
        take_part(out, data, base + (o * parts.extent + index) * parts.inner, parts.inner);
    out.end_row(*dims);
  }
  return std::move(out).finish();
}

} // namespace headrace::detail
