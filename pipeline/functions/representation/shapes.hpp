#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

namespace headrace::detail {

/// Kinds of functions, by how the shape of their result is found.
bool is_elementwise(expr_op op) noexcept;
bool is_reduction(expr_op op) noexcept;

/// The shape of the result of `op` for inputs of these shapes. Extents may be unknown (then more of
/// the result's are); with static shapes it is exact, so it is used while tracing and for each row.
/// Errors do not contain the function's name. Results of data-dependent shape have unknown extents
/// even then.
result<shape> result_shape(expr_op op, const expr_attrs& attrs, std::span<const shape> inputs);

/// `axis` counted from the front. Fails if there is no such axis.
result<size_t> normal_axis(int64_t axis, size_t rank);

/// Which axes of `rank` are reduced. Fails for axes that are not there or named twice.
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
