#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <span>

namespace headrace::detail {

/// Rows `[first, first + count)` of piece `piece`.
struct row_run {
  uint32_t piece = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

/// Appends a run, or extends the last run by it if the two are adjacent.
inline void append_run(std::vector<row_run>& runs, row_run run) {
  if (run.count == 0)
    return;
  if (!runs.empty() && runs.back().piece == run.piece
      && runs.back().first + runs.back().count == run.first)
    runs.back().count += run.count;
  else
    runs.push_back(run);
}

/// Makes one block of the rows of `runs`, with their errors and origins. One kernel copies the rows
/// of a column. Rows that are one run, or dense numbers adjacent in memory, are not copied. If all
/// good rows of a column (those without an error) have one shape, its error rows get that shape; if
/// good rows have different ranks, all rows become error rows. `kernel_calls` is increased by the
/// number of kernels that ran. @pre the pieces have the same spec, and there is at least one row
block gather_rows(std::span<const block* const> pieces, std::span<const row_run> runs,
                  uint64_t& kernel_calls);

/// Finds the origin of any row without a search through all runs.
class origin_index {
public:
  /// @pre `runs` outlives this object
  explicit origin_index(const std::vector<origin>& runs);
  /// Appends the origins of rows `[first, first + count)`. @pre the runs cover them
  void append(std::vector<origin>& out, uint32_t first, uint32_t count) const;

private:
  const std::vector<origin>* runs_;
  std::vector<uint32_t> starts_;
};

} // namespace headrace::detail
