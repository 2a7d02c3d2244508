#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <span>

namespace headrace::detail {

/// Rows `[first, first + count)` of a block.
struct row_range {
  size_t first = 0;
  size_t count = 0;
};

/// Makes one row of each range: for each column of `rows`, the new row has a dataset of the range's
/// rows. Ranges may overlap. No values are copied. A range with an error row becomes an error row.
/// A new row has the origin of the last row of its range.
block nest_rows(const block& rows, std::span<const row_range> ranges);

} // namespace headrace::detail
