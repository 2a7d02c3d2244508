#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

/// Loops over contiguous values. They do not depend on rows and shapes, and the bits of a result do
/// not depend on the CPU. The best variant for the CPU is chosen when a kernel is looked up.
namespace headrace::detail::kernels {

/// Computes `n` values at `out` from `n` values at each of `a`, `b` and `c`; a function with fewer
/// operands ignores `c`, or `b` and `c`. `out` may be one of the operands if its values have the
/// size of the operand's values; otherwise `out` must not overlap an operand.
using tile_fn = void (*)(void* out, const void* a, const void* b, const void* c, size_t n);

/// The form of the operands of a binary function: `vectors`: both are arrays; `right_scalar`,
/// `left_scalar`: the named operand is a single value, which is combined with each value of the
/// other operand.
enum class tile_form : uint8_t { vectors, right_scalar, left_scalar };

/// The kernel of an elementwise function with operands of dtype `type` (for `where`: of the
/// branches); `to` is the result's dtype for `cast`. Null if there is no kernel of that form; each
/// function has a kernel of the form `vectors` for the numeric dtypes that it supports. An integer
/// division by zero and a negative power of integers result in 0, and a cast out of range in any
/// value: callers must check for these cases before.
tile_fn find_tile(expr_op op, dtype type, tile_form form = tile_form::vectors,
                  dtype to = dtype::int64) noexcept;

/// The kernel of two functions of floats at once: `second(first(a, b), c)`, where `b` and `c` are
/// single values. The result is rounded after each of the two functions, as by two kernels. Null if
/// there is no kernel for this pair of functions.
tile_fn find_pair_tile(expr_op first, expr_op second, dtype type) noexcept;

/// Writes the value at `value` to all `n` places at `out`.
using fill_fn = void (*)(void* out, const void* value, size_t n);
/// The function for values of 1, 2, 4, 8 or 16 bytes.
fill_fn find_fill(size_t value_size) noexcept;

// -- the parts of find_tile ---------------------------------------------------

tile_fn find_integer_tile(expr_op op, dtype type, tile_form form) noexcept;
tile_fn find_float_tile(expr_op op, dtype type, tile_form form) noexcept;
tile_fn find_small_float_tile(expr_op op, dtype type, tile_form form) noexcept;
tile_fn find_complex_tile(expr_op op, dtype type) noexcept;
tile_fn find_comparison_tile(expr_op op, dtype type, tile_form form) noexcept;
tile_fn find_math_tile(expr_op op, dtype type) noexcept;
tile_fn find_cast_tile(dtype from, dtype to) noexcept;
tile_fn find_select_tile(size_t value_size) noexcept;

} // namespace headrace::detail::kernels
