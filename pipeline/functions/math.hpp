#pragma once

#include "headrace/pipeline/functions/structure.hpp"

namespace headrace {

// -- places and order ----------------------------------------------------------

/// For each integer in `indices`, `depth` values along a new axis: `on` at that index, `off` at the
/// other places. For an index outside of `[0, depth)` all values are `off`. `axis` is the number of
/// the new axis in the result.
expr one_hot(const expr& indices, int64_t depth, const expr& on = 1.0f, const expr& off = 0.0f,
             int64_t axis = -1);
/// Sorts integers or floats in ascending (or `descending`) order along `axis`. If the values
/// include NaN, the order is that of TensorFlow's kernel (operations/nan_order.hpp).
expr sort(const expr& x, int64_t axis = -1, bool descending = false);
/// The indices (int32) along `axis` of the values in sorted order. Equal values keep their order.
expr argsort(const expr& x, int64_t axis = -1, bool descending = false);

// -- shape ---------------------------------------------------------------------

/// `x` repeated `multiples[i]` times along axis `i`.
expr tile(const expr& x, const extents& multiples);
/// The values that `pad` adds.
enum class pad_mode : uint8_t {
  constant,
  reflect,  ///< mirrored values, without the value at the border; at most extent - 1 values
  symmetric ///< mirrored values, with the value at the border; at most extent values
};
/// `x` with `paddings[i]` = {before, after} more values along axis `i`. `fill` is the value for
/// `constant` (a scalar of `x`'s dtype; by default 0, false or an empty string).
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
         pad_mode mode = pad_mode::constant);
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const expr& fill);
/// `x` with the opposite order of the values along each of `axes`.
expr reverse(const expr& x, const std::vector<int64_t>& axes);
/// Moves the values by `shifts[i]` places along `axes[i]`. A value that is moved past one end of
/// the axis appears at its other end.
expr roll(const expr& x, std::vector<int64_t> shifts, std::vector<int64_t> axes);
/// The part of `x` with `sizes[i]` values (-1: all that follow) from `begin[i]` on along axis `i`;
/// `begin` is an integer vector, computed for each element. A part that is not inside of `x` is an
/// error of the row.
expr slice(const expr& x, const expr& begin, std::vector<int64_t> sizes);
/// As above, but `sizes`, an integer vector, is also computed for each element. The rank of `x`
/// must be known.
expr slice(const expr& x, const expr& begin, const expr& sizes);
/// `x`, whose static shape becomes `dims` (`shape::unknown`: any extent). A row with another shape
/// is an error of the row; if the static shape of `x` does not fit, `error` is thrown.
expr ensure_shape(const expr& x, const shape& dims);

// -- numbers -------------------------------------------------------------------

/// `x` limited to `[low, high]`; NaN stays NaN. The bounds may be tensors that broadcast with `x`.
expr clip_by_value(const expr& x, const expr& low, const expr& high);
/// Matrix products over the last two axes; the other axes broadcast. The dtype is float32, float64,
/// int32 or int64; integers wrap around. Each value is a sum of products, which are added in the
/// order of the axis that both operands share, so that the bits are the same on every CPU.
expr matmul(const expr& a, const expr& b, bool transpose_a = false, bool transpose_b = false);

namespace math {

/// Running sums along `axis`, added in order. `exclusive`: each sum excludes the value at its own
/// place. `reverse`: the sums begin at the end of the axis. Integers wrap around.
expr cumsum(const expr& x, int64_t axis = 0, bool exclusive = false, bool reverse = false);
/// Running products, with the parameters of `cumsum`.
expr cumprod(const expr& x, int64_t axis = 0, bool exclusive = false, bool reverse = false);

/// The `k` largest values along the last axis in descending order, and their indices.
struct top_k_result {
  expr values;
  expr indices; ///< int32; the indices of equal values are in ascending order
};
/// For NaN see `sort`. Fewer than `k` values are an error of the row.
top_k_result top_k(const expr& x, int64_t k = 1);

/// The parts of complex numbers: float32 of complex64, float64 of complex128. Other numbers are
/// their own real part, and `imag` throws `error` for them. For magnitudes see `abs`.
expr real(const expr& x);
expr imag(const expr& x);

} // namespace math

using math::cumsum;

} // namespace headrace
