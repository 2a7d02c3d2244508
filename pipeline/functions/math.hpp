#pragma once

#include "headrace/pipeline/functions/structure.hpp"

namespace headrace {

// -- places and order ----------------------------------------------------------

/// `on` at the place that each integer index names along a new axis of `depth` places, `off`
/// elsewhere; all `off` for an index outside of `[0, depth)`. `axis` counts in the result.
expr one_hot(const expr& indices, int64_t depth, const expr& on = 1.0f, const expr& off = 0.0f,
             int64_t axis = -1);
/// Integers or floats in ascending (or `descending`) order along `axis`. For values that include
/// NaN the order is that of TensorFlow's kernel (operations/nan_order.hpp).
expr sort(const expr& x, int64_t axis = -1, bool descending = false);
/// The places (int32) from which the values of `sort` come; of equal ones the first comes first.
expr argsort(const expr& x, int64_t axis = -1, bool descending = false);

// -- shape ---------------------------------------------------------------------

/// `x` repeated `multiples[i]` times along axis `i`.
expr tile(const expr& x, const extents& multiples);
/// How `pad` fills.
enum class pad_mode : uint8_t {
  constant,
  reflect,  ///< mirrors without the border: at most extent - 1 values
  symmetric ///< mirrors with the border: at most extent values
};
/// `x` with `paddings[i]` = {before, after} more values along axis `i`. `fill` is the value for
/// `constant` (a scalar of `x`'s dtype; by default 0, false or an empty string).
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
         pad_mode mode = pad_mode::constant);
expr pad(const expr& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const expr& fill);
/// In the opposite order along each of `axes`.
expr reverse(const expr& x, const std::vector<int64_t>& axes);
/// Values move by `shifts[i]` along `axes[i]`; what leaves at one end comes in at the other.
expr roll(const expr& x, std::vector<int64_t> shifts, std::vector<int64_t> axes);
/// The part of `x` with `sizes[i]` values (-1: all that follow) from `begin[i]` on along axis `i`;
/// `begin` is an int vector, computed for each element. A part that is not inside is an error of
/// the row.
expr slice(const expr& x, const expr& begin, std::vector<int64_t> sizes);
/// A `slice` whose sizes are computed for each element, too, as an int vector. The rank of `x` must
/// be known.
expr slice(const expr& x, const expr& begin, const expr& sizes);
/// `x`, whose shape is `dims` (`shape::unknown`: any extent) from here on; a row with another one
/// is an error.
expr ensure_shape(const expr& x, const shape& dims);

// -- numbers -------------------------------------------------------------------

/// `x` limited to `[low, high]`; NaN stays. The bounds may be any tensors that broadcast with `x`.
expr clip_by_value(const expr& x, const expr& low, const expr& high);
/// Matrix products over the last two axes; the others broadcast. float32, float64, int32 (wraps)
/// or int64 (wraps). Each value is the sum of its products in order, the same bits on every CPU.
expr matmul(const expr& a, const expr& b, bool transpose_a = false, bool transpose_b = false);

namespace math {

/// Running sums along `axis`, in order; `exclusive`: of what comes before; `reverse`: from the end.
/// Integers wrap.
expr cumsum(const expr& x, int64_t axis = 0, bool exclusive = false, bool reverse = false);
/// Running products.
expr cumprod(const expr& x, int64_t axis = 0, bool exclusive = false, bool reverse = false);

/// The `k` largest of the last axis in descending order, and where they are.
struct top_k_result {
  expr values;
  expr indices; ///< int32; of equal values the first comes first
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
