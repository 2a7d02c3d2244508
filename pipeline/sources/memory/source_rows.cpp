#include "headrace/pipeline/sources/memory/source_rows.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

// The rows of one tensor along axis 0, as a column.
column along_axis(const column& tensor) {
  const auto whole = tensor.shape_of(0);
  const auto rows = static_cast<size_t>(whole[0]);
  const auto row = whole.without_leading();
  if (tensor.is_string())
    return column::strings(row, rows, tensor.border_buffer(), tensor.value_buffer(),
                           tensor.byte_base());
  return column::dense(tensor.type(), row, rows, tensor.value_buffer());
}

} // namespace

uint64_t numbers_in(int64_t start, int64_t stop, int64_t step) noexcept {
  if (step > 0)
    return start >= stop ? 0
                         : (static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1)
                               / static_cast<uint64_t>(step)
                             + 1;
  return start <= stop ? 0
                       : (static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1)
                             / (0 - static_cast<uint64_t>(step))
                           + 1;
}

result<block> rows_of_tensors(const dataset_node& node, std::vector<column> tensors) {
  block rows;
  rows.rows = 1;
  if (node.op == dataset_op::from_tensors) {
    rows.columns = std::move(tensors);
  } else if (node.op == dataset_op::elements_of) {
    rows.rows = tensors[0].nested_row(0).rows();
    for (const auto& x : tensors) rows.rows = std::min(rows.rows, x.nested_row(0).rows());
    for (const auto& x : tensors) rows.columns.push_back(x.nested_row(0).slice(0, rows.rows));
  } else {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto dims = tensors[i].shape_of(0);
      if (dims.is_scalar())
        return invalid_argument(fmt::format(
          "from_tensor_slices: tensor {} is a scalar; it needs an axis to slice along", i));
      const auto n = static_cast<size_t>(dims[0]);
      if (i != 0 && n != rows.rows)
        return invalid_argument(
          fmt::format("from_tensor_slices: tensor {} has {} rows, those before it {}; all need the "
                      "same",
                      i, n, rows.rows));
      rows.rows = n;
      rows.columns.push_back(along_axis(tensors[i]));
    }
  }
  return rows;
}

} // namespace headrace::detail
