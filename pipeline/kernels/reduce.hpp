#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

namespace headrace::detail::kernels {

/// Reduces `outer` runs of `n` by `inner` values to `inner` values each. Along a contiguous run
/// (`inner` is 1) there are sixteen partial results; value `i` is added to partial result `i % 16`,
/// and at the end they are combined in halves. Otherwise, and for complex numbers, values are added
/// in order. So the bits of a sum of floats are the same on every CPU.
using reduce_fn = void (*)(void* out, const void* in, size_t outer, size_t n, size_t inner);

/// The function for `reduce_sum`, `_mean`, `_max`, `_min`, `_prod` of numbers, and `_all` and
/// `_any` of bools. The results for no values are: 0, NaN, lowest, highest, 1, true, false. Null if
/// there is no function for the type.
reduce_fn find_reduction(expr_op op, dtype type) noexcept;

/// The index of the first largest (or smallest) of each run, in which NaN is passed over; 0 if
/// there is nothing else. `n` is not 0.
using arg_reduce_fn = void (*)(int64_t* out, const void* in, size_t outer, size_t n, size_t inner);
arg_reduce_fn find_arg_reduction(bool largest, dtype type) noexcept;

} // namespace headrace::detail::kernels
