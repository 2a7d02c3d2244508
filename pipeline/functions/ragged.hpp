#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <optional>

namespace headrace {

/// A ragged tensor in a traced function: a tensor whose rows have different lengths, such as
/// `ragged_batch` makes. A function takes it as a parameter of this type, and may return it.
class ragged {
public:
  /// Throws `error` if `parts` is no ragged tensor.
  explicit ragged(expr_structure parts);
  /// `values`: the values of all rows, one row after another. `row_lengths`: the lengths of the
  /// rows (int64), which must add up to the first extent of `values`.
  ragged(const expr& values, const expr& row_lengths);
  operator const expr_structure&() const noexcept { return parts_; }

  /// The number of ragged axes: axes along which the rows have different lengths. The first axis,
  /// along which the rows are counted, is not one of them.
  size_t axes() const noexcept { return parts_.leaves().size() - 1; }
  /// The values of all rows along the first axis.
  const expr& values() const noexcept { return parts_.leaves()[0]; }
  /// The lengths of the rows along the outermost ragged axis (0), of the rows inside these rows
  /// (1), and so on.
  const expr& row_lengths(size_t axis = 0) const;
  /// The borders of the rows: 0, and the running sums of the lengths.
  expr row_splits(size_t axis = 0) const;
  /// A tensor, in which each row is filled to the length of the longest with `fill`: a scalar of
  /// the values' dtype, by default 0 or an empty string.
  expr to_tensor(const std::optional<expr>& fill = std::nullopt) const;
  /// A ragged tensor with the same row lengths and other values. The first extent of `values` must
  /// be that of the present values.
  ragged with_values(const expr& values) const;

private:
  expr_structure parts_;
};

} // namespace headrace
