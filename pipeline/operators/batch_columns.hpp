#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// Batches some of which failed: the first error of each.
class failed_batches {
public:
  /// Those with a row that failed. @pre `size` divides `rows.rows`
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

/// Every `size` rows as one, along a new first axis; no values are copied. A batch with a row that
/// failed is one failed row (with the first one's error), and so is one whose rows have different
/// shapes. A batch descends from the split of its last row. @pre `size` divides `rows.rows`
block batch_rows(const block& rows, size_t size);

/// Column `index` of these, as `batch_rows` makes it.
column batch_column(const column& rows, size_t index, size_t size, failed_batches& failed);

/// What `batch_rows` says of batches besides their columns: how many, which failed, and origins.
block batches_without_columns(const block& rows, size_t size, const failed_batches& failed);

} // namespace headrace::detail
