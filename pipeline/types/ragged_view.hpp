#pragma once

#include "headrace/pipeline/types/element.hpp"

namespace headrace {

/// A ragged tensor of an element: rows of different lengths. Valid as long as the element.
class ragged_view {
public:
  /// Part `index` of the element, or the whole element. Throws `error` if that is not a ragged
  /// tensor.
  ragged_view(const element& at, size_t index);
  explicit ragged_view(const element& whole);
  /// The part with that name.
  ragged_view(const element& at, std::string_view name);

  /// The values of all rows along the first axis.
  tensor_view values() const noexcept { return (*element_)[first_]; }
  /// The number of ragged axes: the axes after the first one, whose extents differ from row to row.
  size_t axes() const noexcept { return axes_; }
  /// The lengths of the rows along ragged axis `axis`; 0 is the outermost one. @pre `axis < axes()`
  std::span<const int64_t> row_lengths(size_t axis = 0) const {
    return (*element_)[first_ + 1 + axis].as<int64_t>();
  }
  /// The borders of the rows: 0, and the running sums of the lengths.
  std::vector<int64_t> row_splits(size_t axis = 0) const;

private:
  ragged_view(const element& at, const structure& layout, size_t first);
  const element* element_;
  size_t first_; ///< the index of the first leaf
  size_t axes_;
};

} // namespace headrace
