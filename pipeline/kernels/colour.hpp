#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

#include <cstddef>

namespace headrace::detail::kernels {

/// Changes `n` pixels of three float32 values, which should be in [0, 1]. `out` may be `in`.
using colour_fn = void (*)(float* out, const float* in, size_t n, float amount);

/// For rgb_to_hsv, hsv_to_rgb, adjust_hue (`amount` is added to the hue, which wraps around at 1)
/// and adjust_saturation (the saturation is multiplied by `amount` and clamped to [0, 1]); null for
/// other functions.
colour_fn find_colour(expr_op op) noexcept;

} // namespace headrace::detail::kernels
