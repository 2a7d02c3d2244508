#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

/// Loops over contiguous values. They do not depend on rows and shapes, and the bits of a result do
/// not depend on the CPU. The best variant for the CPU is chosen when a kernel is looked up.
namespace headrace::detail::kernels {

/// Computes `n` values at `out` from as many at `a`, `b` and `c`, if the function has these
/// operands. `out` may be one of the inputs if their values have the same size; otherwise they must
/// not overlap.
using tile_fn = void (*)(void* out, const void* a, const void* b, const void* c, size_t n);

/// Which operands of a binary function are arrays; the other operand is one value for the whole
/// run.
enum class tile_form : uint8_t { vectors, right_scalar, left_scalar };

/// The kernel of an elementwise function with operands of dtype `type` (for `where`: of the
/// branches); `to` is the result's dtype for `cast`. Null if there is no kernel of that form; each
/// function of numbers has the form `vectors`. An integer division by zero and a negative power of
/// integers result in 0, and a cast out of range in any value: callers must check for these before.
tile_fn find_tile(expr_op op, dtype type, tile_form form = tile_form::vectors,
                  dtype to = dtype::int64) noexcept;

/// Two functions of floats at once: `second(first(a, b), c)`, where `b` and `c` are single values.
/// The result is rounded twice, as by two kernels. Null if there is no kernel for these two.
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
