#include "headrace/pipeline/types/block_copy.hpp"

#include <utility>

namespace headrace::detail {

namespace {

buffer copied(const buffer& from, size_t offset, size_t size) {
  return size == 0 ? buffer{} : buffer::copy_of(from.data() + offset, size);
}

column copied(const column& from) {
  const auto rows = from.rows();
  if (from.is_nested()) {
    std::vector<column> datasets;
    datasets.reserve(rows);
    for (size_t i = 0; i < rows; ++i) datasets.push_back(copied(from.nested_row(i)));
    return column::nested(from.type(), std::move(datasets));
  }
  const auto values = static_cast<size_t>(from.total_values());
  buffer starts, dims;
  if (!from.is_dense()) {
    starts = copied(from.row_start_buffer(), 0, (rows + 1) * sizeof(int64_t));
    dims = copied(from.row_dim_buffer(), 0, rows * from.rank() * sizeof(int64_t));
  }
  if (!from.is_string()) {
    auto in_place = copied(from.value_buffer(), 0, values * size_of(from.type()));
    return from.is_dense() ? column::dense(from.type(), from.row_shape(), rows, std::move(in_place))
                           : column::variable(from.type(), from.rank(), rows, std::move(in_place),
                                              std::move(starts), std::move(dims));
  }
  const auto ends = from.border_buffer().as<int64_t>();
  auto borders = copied(from.border_buffer(), 0, (values + 1) * sizeof(int64_t));
  auto bytes = copied(from.value_buffer(), static_cast<size_t>(ends[0] - from.byte_base()),
                      static_cast<size_t>(ends[values] - ends[0]));
  return from.is_dense()
           ? column::strings(from.row_shape(), rows, std::move(borders), std::move(bytes), ends[0])
           : column::variable_strings(from.rank(), rows, std::move(borders), std::move(bytes),
                                      ends[0], std::move(starts), std::move(dims));
}

} // namespace

block copy_of(const block& rows) {
  auto out = rows;
  for (auto& one : out.columns) one = copied(one);
  return out;
}

} // namespace headrace::detail
