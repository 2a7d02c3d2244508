#include "headrace/pipeline/operators/batches/batch_columns.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr size_t word = sizeof(int64_t);

shape with_batch(size_t size, const shape& row) {
  return row.with_leading(static_cast<int64_t>(size));
}

// Adds to `failed` each batch with rows whose shapes differ.
void check_shapes(const column& c, size_t index, size_t size, failed_batches& failed) {
  const auto rank = c.rank();
  auto dims = c.row_dim_buffer().as<int64_t>();
  for (size_t b = 0; b * size < c.rows(); ++b) {
    if (failed.at(b))
      continue;
    const auto first = dims.subspan(b * size * rank, rank);
    for (auto row = b * size + 1; row < (b + 1) * size; ++row)
      if (!std::equal(first.begin(), first.end(),
                      dims.begin() + static_cast<int64_t>(row * rank))) {
        failed.add(b, invalid_argument(fmt::format(
                        "batch: component {} has rows of shapes {} and {} in one batch; all rows "
                        "of a batch must have one shape",
                        index, to_string(c.shape_of(b * size)), to_string(c.shape_of(row)))));
        break;
      }
  }
}

// A column of `batches` rows of shape `row` with the values of `c` in the same order, without a
// copy.
column same_values(const column& c, const shape& row, size_t batches) {
  if (c.is_string())
    return column::strings(row, batches, c.border_buffer(), c.value_buffer(), c.byte_base());
  return column::dense(c.type(), row, batches, c.value_buffer());
}

column variable_batches(const column& c, size_t size, const failed_batches& failed) {
  const auto batches = c.rows() / size;
  const auto rank = c.rank();
  // If no batch failed and all batches have the same shape, the result is dense.
  std::optional<shape> common;
  bool one_shape = true;
  for (size_t b = 0; b < batches && one_shape; ++b) {
    auto row = c.shape_of(b * size);
    one_shape = !failed.at(b) && (!common || *common == row);
    common = std::move(row);
  }
  if (one_shape)
    return same_values(c, with_batch(size, *common), batches);

  mutable_buffer starts{(batches + 1) * word}, dims{batches * (rank + 1) * word};
  auto start = starts.as<int64_t>();
  auto* dim = dims.as<int64_t>().data();
  auto row_dims = c.row_dim_buffer().as<int64_t>();
  for (size_t b = 0; b < batches; ++b) {
    start[b] = c.first_value(b * size);
    const auto values = c.first_value((b + 1) * size) - start[b];
    if (failed.at(b)) { // a failed batch may have any shape with this number of values
      *dim++ = values;
      for (size_t d = 0; d < rank; ++d) *dim++ = 1;
      continue;
    }
    *dim++ = static_cast<int64_t>(size);
    for (size_t d = 0; d < rank; ++d) *dim++ = row_dims[b * size * rank + d];
  }
  start[batches] = c.total_values();
  if (c.is_string())
    return column::variable_strings(rank + 1, batches, c.border_buffer(), c.value_buffer(),
                                    c.byte_base(), std::move(starts).freeze(),
                                    std::move(dims).freeze());
  return column::variable(c.type(), rank + 1, batches, c.value_buffer(), std::move(starts).freeze(),
                          std::move(dims).freeze());
}

} // namespace

std::vector<row_error> failed_batches::errors() const {
  std::vector<row_error> out;
  for (size_t i = 0; i < why_.size(); ++i)
    if (!why_[i].ok())
      out.push_back({static_cast<uint32_t>(i), why_[i]});
  return out;
}

column batch_column(const column& rows, size_t index, size_t size, failed_batches& failed) {
  if (rows.is_dense())
    return same_values(rows, with_batch(size, rows.row_shape()), rows.rows() / size);
  check_shapes(rows, index, size, failed);
  return variable_batches(rows, size, failed);
}

block batches_without_columns(const block& rows, size_t size, const failed_batches& failed) {
  block out;
  out.rows = rows.rows / size;
  out.errors = failed.errors();
  if (!rows.origins.empty()) {
    const origin_index origins{rows.origins};
    for (size_t b = 1; b <= out.rows; ++b)
      origins.append(out.origins, static_cast<uint32_t>(b * size - 1), 1);
  }
  return out;
}

block batch_rows(const block& rows, size_t size) {
  failed_batches failed{rows, size};
  std::vector<column> columns;
  for (size_t i = 0; i < rows.columns.size(); ++i)
    columns.push_back(batch_column(rows.columns[i], i, size, failed));
  auto out = batches_without_columns(rows, size, failed);
  out.columns = std::move(columns);
  return out;
}

} // namespace headrace::detail
