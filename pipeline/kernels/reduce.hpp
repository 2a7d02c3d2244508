#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

namespace headrace::kernels {

/// Reduces `outer` runs of `n` by `inner` values to `inner` values each. Along a contiguous run
/// (`inner` is 1) sixteen partial results are kept, value `i` in partial `i % 16`, and folded in
/// halves at the end; else values are taken in order. So the bits of a float's sum are the same on
/// every CPU.
using reduce_fn = void (*)(void* out, const void* in, size_t outer, size_t n, size_t inner);

/// `reduce_sum`, `_mean`, `_max`, `_min`, `_prod` of numbers, `_all` and `_any` of bools. Of no
/// values: 0, NaN, lowest, highest, 1, true, false. Null if there is none for the type.
reduce_fn find_reduction(expr_op op, dtype type) noexcept;

/// The index of the first largest (or smallest) of each run; `n` is not 0.
using arg_reduce_fn = void (*)(int64_t* out, const void* in, size_t outer, size_t n, size_t inner);
arg_reduce_fn find_arg_reduction(bool largest, dtype type) noexcept;

} // namespace headrace::kernels
