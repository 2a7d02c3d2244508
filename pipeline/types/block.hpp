#pragma once

#include "headrace/pipeline/types/column.hpp"

#include <cstdint>
#include <vector>

namespace headrace {

/// Where rows came from: the split of the source they descend from; a row made of several rows (a
/// batch) descends from that of the last one. Runs of rows share one record: row `i` of the run
/// descends from split `split + i * step`.
struct origin {
  uint32_t rows = 0;   ///< length of this run
  uint32_t source = 0; ///< which source of the graph, in depth-first order
  uint64_t pass = 0;   ///< how often the source had been started over
  uint64_t split = 0;  ///< which split of the source the first row is from
  uint64_t step = 0;   ///< between the splits of neighbouring rows; modulo 2^64
  friend bool operator==(const origin&, const origin&) = default;
};

/// Appends a run, as part of the last one where the two make one progression.
void append_origin(std::vector<origin>& runs, const origin& run);
/// Appends the origins of rows `[first, first + count)` of rows with the origins `from`.
void append_origins(std::vector<origin>& runs, const std::vector<origin>& from, size_t first,
                    size_t count);
/// The origin of one row. @pre `runs` cover it
origin origin_of(const std::vector<origin>& runs, size_t row);

/// A row that failed. The columns hold some value of the right spec there that nobody may read.
struct row_error {
  uint32_t row = 0;
  status why;
};

/// A run of consecutive elements in columns: what operators take and give, links send, caches hold.
/// Immutable once handed on; copying shares the buffers. Every column has `rows` rows.
struct block {
  std::vector<column> columns; ///< one a component of the spec
  size_t rows = 0;
  std::vector<row_error> errors; ///< ascending by row, at most one a row
  std::vector<origin> origins;   ///< empty, or run lengths that sum to `rows`

  /// Rows `[first, first + count)`; copies no values.
  block slice(size_t first, size_t count) const;
  /// Bytes in all columns.
  size_t bytes() const noexcept;
  /// The error at `row`, or null.
  const status* error_at(size_t row) const noexcept;
  /// Some block of one row of this spec that is an error: zeros and empty strings.
  static block failed_row(const std::vector<tensor_spec>& specs, status why);
};

} // namespace headrace
