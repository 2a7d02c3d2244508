#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

namespace headrace::detail {

/// The shape of a function's result for inputs of these shapes. It is used while tracing, where
/// unknown extents of inputs make extents of the result unknown, and for each row. With static
/// shapes it is exact, except that extents that depend on data stay unknown. Errors do not contain
/// the function's name.
using shape_rule = result<shape> (*)(const expr_attrs& attrs, std::span<const shape> inputs);

namespace shape_rules {
result<shape> broadcast_all(const expr_attrs& attrs, std::span<const shape> inputs);
result<shape> reduce(const expr_attrs& attrs, const shape& in);     ///< over `attrs.axes`
result<shape> arg_reduce(const expr_attrs& attrs, const shape& in); ///< over `attrs.axes[0]`
result<shape> index(const expr_attrs& attrs, const shape& in);      ///< by `attrs.slices`
/// The shape of a vector of unknown length. The input must be a scalar.
result<shape> split(const expr_attrs& attrs, const shape& in);
result<shape> without_last_axis(const expr_attrs& attrs, const shape& in);
/// The shape `in` with one more axis, of unknown extent, at the end.
result<shape> with_last_axis(const expr_attrs& attrs, const shape& in);
} // namespace shape_rules

/// `axis` counted from the front. Fails if there is no such axis.
result<size_t> normal_axis(int64_t axis, size_t rank);

/// For each of `rank` axes, true if the axis is in `axes`, or if `axes` is empty. Fails if `axes`
/// contains an axis that does not exist, or an axis twice.
result<std::vector<bool>> reduced_axes(const std::vector<int64_t>& axes, size_t rank);

/// One axis of the input as basic indexing reads it: `count` places from `start` by `step`.
struct axis_range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
/// The effect of numpy's basic indexing on an input of shape `dims`: the range of each of its axes.
/// The range of an axis of unknown extent has the count `shape::unknown`, unless an index selects
/// one place, or the range is empty for any extent.
struct index_plan {
  std::vector<axis_range> axes; ///< one for each axis of the input
  std::vector<int64_t> dims;    ///< of the result
};
result<index_plan> plan_index(const std::vector<slice_spec>& parts, const shape& dims);

} // namespace headrace::detail
