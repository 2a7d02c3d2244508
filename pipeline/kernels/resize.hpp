#pragma once

#include "headrace/pipeline/types/dtype.hpp"

#include <cstddef>
#include <vector>

/// Resampling of images, one axis after the other. Sums are computed in the order of the taps, so
/// that their bits do not depend on the CPU.
namespace headrace::detail::kernels {

/// `out[i] = sum over k of weights[k] * rows[k][i]`, for `n` values of the rows' dtype.
using blend_rows_fn = void (*)(float* out, const void* const* rows, const float* weights,
                               size_t taps, size_t n);
/// The function for integers of 8 and 16 bits, int32 and floats; null for other dtypes.
blend_rows_fn find_blend_rows(dtype type) noexcept;

/// Value `i` of the result is the weighted sum of the `taps` values of the input axis from
/// `starts[i]` on. None of these is beyond the end of the axis; a value that is not needed has the
/// weight 0.
struct axis_weights {
  size_t taps = 0;
  std::vector<size_t> starts;
  std::vector<float> weights; ///< `taps` weights for each value of the result
};

enum class resize_kernel : uint8_t { triangle, cubic, area };

/// The weights to resample `in` values to `out` values. Pixels are squares: the centre of pixel `i`
/// is at `i + 0.5`. `antialias` widens a triangle or cubic kernel if the result is smaller. @pre
/// `in > 0`, `out > 0`
axis_weights weights_of(resize_kernel kernel, size_t in, size_t out, bool antialias);

/// Resamples pixels of `channels` values: `out[i] = sum over k of weights[i][k] * row[starts[i] +
/// k]`. One value after `row` may be read, so it must be in memory. @pre `axis` is not empty
using blend_pixels_fn = void (*)(float* out, const float* row, const axis_weights& axis,
                                 size_t channels);
blend_pixels_fn find_blend_pixels() noexcept;

} // namespace headrace::detail::kernels
