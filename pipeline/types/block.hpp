#pragma once

#include "headrace/pipeline/types/column.hpp"

#include <cstdint>
#include <vector>

namespace headrace {

/// The split of a source from which rows descend. A row that is made of several rows (a batch)
/// descends from the split of the last one. Consecutive rows share one record: row `i` of the run
/// descends from split `split + i * step`.
struct origin {
  uint32_t rows = 0;   ///< the number of rows in this run
  uint32_t source = 0; ///< the source, in depth-first order of the graph
  uint64_t pass = 0;   ///< the number of earlier passes of the source
  uint64_t split = 0;  ///< the split of the first row
  uint64_t step = 0;   ///< the difference between the splits of one row and the next, modulo 2^64
  friend bool operator==(const origin&, const origin&) = default;
};

/// Appends a run, or extends the last run with it if all their splits are equally far apart.
void append_origin(std::vector<origin>& runs, const origin& run);
/// Appends the origins of rows `[first, first + count)`. `from`: the origins of all rows.
void append_origins(std::vector<origin>& runs, const std::vector<origin>& from, size_t first,
                    size_t count);
/// The origin of one row. @pre `row` is less than the number of rows of all `runs`
origin origin_of(const std::vector<origin>& runs, size_t row);

/// The error of an error row. At that row the columns have values of the right dtype, but of any
/// shape, which must not be read.
struct row_error {
  uint32_t row = 0;
  status why;
};

/// Consecutive elements in columns: operators take and return blocks, links send them, caches keep
/// them. Immutable after it was passed on; copies share the buffers. Every column has `rows` rows.
struct block {
  std::vector<column> columns; ///< one for each component of the spec
  size_t rows = 0;
  std::vector<row_error> errors; ///< in ascending order of rows, at most one for each row
  std::vector<origin> origins;   ///< empty, or runs whose lengths add up to `rows`

  /// Rows `[first, first + count)`; copies no values.
  block slice(size_t first, size_t count) const;
  /// The bytes in all columns.
  size_t bytes() const noexcept;
  /// The error of the row; null if the row is not an error row.
  const status* error_at(size_t row) const noexcept;
  /// A block of one error row of this spec, with zeros and empty strings.
  static block failed_row(const std::vector<tensor_spec>& specs, status why);
};

} // namespace headrace
