#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

namespace headrace::detail::kernels {

/// Changes `n` pixels of three float32 values, which should be in [0, 1]. `out` may be `in`.
using colour_fn = void (*)(float* out, const float* in, size_t n, float amount);

/// The kernel of rgb_to_hsv, hsv_to_rgb, adjust_hue (adds `amount` to the hue, which wraps around
/// at 1) or adjust_saturation (multiplies the saturation by `amount` and clamps it to [0, 1]); null
/// for other functions.
colour_fn find_colour(expr_op op) noexcept;

} // namespace headrace::detail::kernels
