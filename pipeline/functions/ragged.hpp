#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <optional>

namespace headrace {

/// A ragged tensor in a traced function, as `ragged_batch` makes: rows of different lengths. A
/// function takes it as a parameter of this type, and may return it.
class ragged {
public:
  /// Throws `error` if `parts` is no ragged tensor.
  explicit ragged(expr_structure parts);
  /// From values, one row after another, and the rows' lengths (int64), which must add up to the
  /// extent of the values.
  ragged(const expr& values, const expr& row_lengths);
  operator const expr_structure&() const noexcept { return parts_; }

  /// Axes whose rows have lengths of their own, beside the first.
  size_t axes() const noexcept { return parts_.leaves().size() - 1; }
  /// The values of all rows along the first axis.
  const expr& values() const noexcept { return parts_.leaves()[0]; }
  /// How long the rows are: along the outermost such axis, or the rows of those rows (1), and so
  /// on.
  const expr& row_lengths(size_t axis = 0) const;
  /// Where they begin and end: 0, and the sums of the first lengths.
  expr row_splits(size_t axis = 0) const;
  /// As a tensor, whose rows are filled to the longest with `fill` (zeros or empty strings): a
  /// scalar of the values' dtype.
  expr to_tensor(const std::optional<expr>& fill = std::nullopt) const;
  /// Other values (of as many along the first axis) in the same rows.
  ragged with_values(const expr& values) const;

private:
  expr_structure parts_;
};

} // namespace headrace
