#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

namespace headrace::detail::kernels {

/// Reduces an array [outer, n, inner] along its middle axis to an array [outer, inner]. If `inner`
/// is 1, the `n` values are contiguous, and there are sixteen partial results: value `i` is
/// combined with partial result `i % 16`; at the end partial result `i` is combined with `i + 8`,
/// then `i` with `i + 4`, and so on. Otherwise, and for complex numbers, the values are combined in
/// order. Since the order is fixed, the bits of a sum of floats are the same on every CPU.
using reduce_fn = void (*)(void* out, const void* in, size_t outer, size_t n, size_t inner);

/// The function for `reduce_sum`, `_mean`, `_max`, `_min`, `_prod` of numbers, and `_all` and
/// `_any` of bools. If `n` is 0, the results of these are, in this order, 0, NaN, the lowest value,
/// the highest value, 1, true and false. Null if there is no function for the type.
reduce_fn find_reduction(expr_op op, dtype type) noexcept;

/// Writes the index of the first of the largest (or smallest) values along the middle axis of an
/// array [outer, n, inner]: `outer * inner` indices. NaN is passed over. An index is 0 if no value
/// is above the lowest (or below the highest) finite value of the dtype, for example if all values
/// are NaN. @pre `n` is not 0
using arg_reduce_fn = void (*)(int64_t* out, const void* in, size_t outer, size_t n, size_t inner);
arg_reduce_fn find_arg_reduction(bool largest, dtype type) noexcept;

} // namespace headrace::detail::kernels
