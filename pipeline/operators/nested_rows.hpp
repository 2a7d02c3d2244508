#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <span>

namespace headrace::detail {

/// Rows `[first, first + count)` of a block.
struct row_range {
  size_t first = 0;
  size_t count = 0;
};

/// One row a range: datasets of its rows, one a column; ranges may overlap. Copies no values. A
/// range with a row that failed is a failed row; each descends from its last row.
block nest_rows(const block& rows, std::span<const row_range> ranges);

} // namespace headrace::detail
