#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <span>

namespace headrace::detail {

/// Rows `[first, first + count)` of a block.
struct row_range {
  size_t first = 0;
  size_t count = 0;
};

/// Makes one row of each range. Its values are datasets of the range's rows, one for each column.
/// Ranges may overlap. No values are copied. A range with a failed row becomes a failed row; each
/// row has the origin of the range's last row.
block nest_rows(const block& rows, std::span<const row_range> ranges);

} // namespace headrace::detail
