#include "headrace/pipeline/kernels/matmul.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/matmul.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

/// The number of columns of the result whose sums are computed at the same time. It is so small
/// that the sums stay in registers.
constexpr size_t width = 32;

template <class T>
void matmul(void* out, const void* a, const void* b, size_t m, size_t k, size_t n) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* to = static_cast<T*>(out);
  for (size_t column = 0; column < n; column += width) {
    const auto wide = std::min(width, n - column);
    for (size_t row = 0; row < m; ++row) {
      T sums[width] = {};
      if (wide == width) {
        for (size_t i = 0; i < k; ++i) {
          const auto factor = x[row * k + i];
          const auto* line = y + i * n + column;
          for (size_t j = 0; j < width; ++j) sums[j] += factor * line[j];
        }
      } else {
        for (size_t i = 0; i < k; ++i) {
          const auto factor = x[row * k + i];
          const auto* line = y + i * n + column;
          for (size_t j = 0; j < wide; ++j) sums[j] += factor * line[j];
        }
      }
      std::copy_n(sums, wide, to + row * n + column);
    }
  }
}

matmul_fn FindMatmul(dtype type) {
  switch (type) {
  case dtype::float32: return matmul<float>;
  case dtype::float64: return matmul<double>;
  // The type is unsigned, so that integers wrap around.
  case dtype::int32: return matmul<uint32_t>;
  case dtype::int64: return matmul<uint64_t>;
  default: return nullptr;
  }
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindMatmul);
matmul_fn find_matmul(dtype type) noexcept { return HWY_DYNAMIC_DISPATCH(FindMatmul)(type); }
} // namespace headrace::detail::kernels
#endif
