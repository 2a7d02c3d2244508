#pragma once

#include "headrace/pipeline/types/dtype.hpp"

#include <cstddef>

namespace headrace::detail::kernels {

/// `out[m, n] = a[m, k] * b[k, n]`, row-major. Each value is the sum of its products in the order
/// of `k`, so that its bits depend neither on the CPU nor on the other values. `out` must not
/// overlap the inputs.
using matmul_fn = void (*)(void* out, const void* a, const void* b, size_t m, size_t k, size_t n);

/// The function for float32, float64, int32 and int64 (which wrap around); null for other dtypes.
matmul_fn find_matmul(dtype type) noexcept;

} // namespace headrace::detail::kernels
