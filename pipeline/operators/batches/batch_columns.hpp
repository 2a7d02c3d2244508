#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// The batches that failed, with the first error of each.
class failed_batches {
public:
  /// At first, the batches with an error row have failed. @pre `size` divides `rows.rows`
  failed_batches(const block& rows, size_t size) : why_(rows.rows / size) {
    for (const auto& e : rows.errors) add(e.row / size, e.why);
  }
  bool at(size_t batch) const { return !why_[batch].ok(); }
  void add(size_t batch, const status& why) {
    if (why_[batch].ok())
      why_[batch] = why;
  }
  std::vector<row_error> errors() const;

private:
  std::vector<status> why_;
};

/// Makes one row, a batch, of every `size` rows, along a new first axis; copies no values. If a
/// batch has error rows, it becomes an error row with their first error; if its rows have different
/// shapes, it also becomes one. A batch has its last row's origin. @pre `size` divides `rows.rows`
block batch_rows(const block& rows, size_t size);

/// The column that `batch_rows` makes of the column `rows`. Adds to `failed` the batches whose rows
/// have different shapes; the errors of these batches contain `index`, the number of the column.
column batch_column(const column& rows, size_t index, size_t size, failed_batches& failed);

/// The result of `batch_rows` without its columns: the number of batches, errors and origins.
block batches_without_columns(const block& rows, size_t size, const failed_batches& failed);

} // namespace headrace::detail
