#pragma once

#include <cstdint>

namespace headrace::detail::kernels {

/// Subtracts quarter turns from the angle `x`: returns their number (modulo 2^64), and the
/// remaining angle, in [-pi/4, pi/4], as a sum of two doubles. @pre `x` is finite, and its
/// magnitude is 1 or more
uint64_t reduce_angle(double x, double& angle, double& tail) noexcept;

} // namespace headrace::detail::kernels
