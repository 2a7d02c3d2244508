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
result<shape> arg_reduce(const expr_attrs& attrs, const shape& in); ///< over the one axis there
result<shape> index(const expr_attrs& attrs, const shape& in);      ///< by `attrs.slices`
/// A vector of unknown length for a scalar.
result<shape> split(const expr_attrs& attrs, const shape& in);
result<shape> without_last_axis(const expr_attrs& attrs, const shape& in);
/// One more axis, of unknown extent.
result<shape> with_last_axis(const expr_attrs& attrs, const shape& in);
} // namespace shape_rules

/// `axis` counted from the front. Fails if there is no such axis.
result<size_t> normal_axis(int64_t axis, size_t rank);

/// For each of `rank` axes, true if it is one of `axes`, or if these are empty. Fails for axes that
/// do not exist or are named twice.
result<std::vector<bool>> reduced_axes(const std::vector<int64_t>& axes, size_t rank);

/// One axis of the input as basic indexing reads it: `count` places from `start` by `step`.
struct axis_range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
/// The effect of numpy's basic indexing on an input of `dims`: the ranges of its axes. Ranges of
/// unknown extents have count `shape::unknown` (unless an index picks one).
struct index_plan {
  std::vector<axis_range> axes; ///< one an input axis
  std::vector<int64_t> dims;    ///< of the result
};
result<index_plan> plan_index(const std::vector<slice_spec>& parts, const shape& dims);

} // namespace headrace::detail
