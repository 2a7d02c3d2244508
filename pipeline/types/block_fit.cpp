#include "headrace/pipeline/types/block_fit.hpp"

#include <fmt/format.h>

namespace headrace::detail {

status fits(const block& rows, const std::vector<tensor_spec>& expected) {
  if (rows.columns.size() != expected.size())
    return invalid_argument(
      fmt::format("a block of {} columns, expected {}", rows.columns.size(), expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& column = rows.columns[i];
    const auto& wanted = expected[i];
    const auto other = [&](const std::string& what) {
      return invalid_argument(
        fmt::format("block, column {}: rows of {}, expected {}", i, what, to_string(wanted)));
    };
    if (column.type() != wanted.type)
      return other(fmt::format("dtype {}", to_string(column.type())));
    if (column.is_nested() || rows.errors.size() == rows.rows)
      continue;
    if (column.is_dense()) {
      if (!wanted.dims.accepts(column.row_shape()))
        return other("shape " + to_string(column.row_shape()));
      continue;
    }
    for (size_t row = 0; row < rows.rows; ++row)
      if (!wanted.dims.accepts(column.shape_of(row)) && rows.error_at(row) == nullptr)
        return other("shape " + to_string(column.shape_of(row)));
  }
  return {};
}

} // namespace headrace::detail
