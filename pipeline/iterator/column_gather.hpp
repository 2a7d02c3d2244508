#pragma once

#include "headrace/pipeline/iterator/gather.hpp"

namespace headrace::detail {

/// Gathers rows of one column from many pieces into one column.
class column_gather {
public:
  /// Gathers column `index` of the `rows` rows in `runs`.
  column_gather(std::span<const block* const> pieces, std::span<const row_run> runs, size_t index,
                size_t rows)
    : pieces_(pieces), runs_(runs), index_(index), rows_(rows) {}

  /// A column that uses the memory of the rows, without a copy; empty if the rows are neither one
  /// run nor dense numbers that are adjacent in memory.
  std::optional<column> in_place() const;
  /// A copy of the rows; empty if they have different ranks.
  std::optional<column> copy() const;

private:
  struct string_copy;

  const column& of(const row_run& run) const { return pieces_[run.piece]->columns[index_]; }
  bool failed(const row_run& run, size_t row) const {
    return pieces_[run.piece]->error_at(run.first + row) != nullptr;
  }
  /// The shape of all rows, if they have one shape.
  std::optional<shape> common_shape() const;
  /// The shape of all rows except error rows, if they have one shape; the shape of the first row if
  /// all rows are error rows.
  std::optional<shape> common_good_shape() const;
  template <size_t Bytes>
  void copy_rows(std::byte* to) const;
  column dense(dtype type, const shape& row) const;
  column mended_dense(dtype type, const shape& row) const;
  size_t all_string_bytes() const;
  string_copy start_strings(size_t count) const;
  column strings(const shape& row) const;
  column mended_strings(const shape& row) const;
  std::optional<column> variable(dtype type) const;
  column nested(dtype type) const;

  std::span<const block* const> pieces_;
  std::span<const row_run> runs_;
  size_t index_;
  size_t rows_;
};

} // namespace headrace::detail
