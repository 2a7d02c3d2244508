#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_math.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/loops-inl.hpp"
#include "headrace/pipeline/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

/// Vector code computes runs of 64 angles that are all small; in other runs each angle is computed
/// by itself.
template <class T, int Quarter>
void wave_loop(void* out, const void* a, const void*, const void*, size_t n) {
  constexpr size_t run = 64;
  auto* o = static_cast<T*>(out);
  auto* x = static_cast<const T*>(a);
  for (size_t first = 0; first < n; first += run) {
    const auto last = std::min(n, first + run);
    bool large = false;
    for (size_t i = first; i < last; ++i) large |= !(std::abs(x[i]) <= T(largest_fast_angle));
    if (large) {
      for (size_t i = first; i < last; ++i) o[i] = math_wave<Quarter>{}(x[i]);
    } else {
#pragma GCC ivdep
      for (size_t i = first; i < last; ++i) o[i] = fast_wave<Quarter>{}(x[i]);
    }
  }
}

template <class T>
tile_fn find_math(expr_op op) {
  switch (op) {
  case expr_op::exp: return unary_loop<T, T, math_exp>;
  case expr_op::log: return unary_loop<T, T, math_log>;
  case expr_op::tanh: return unary_loop<T, T, math_tanh>;
  case expr_op::sin: return wave_loop<T, 0>;
  case expr_op::cos: return wave_loop<T, 1>;
  case expr_op::power: return binary_loop<T, T, math_power>;
  default: return nullptr;
  }
}

tile_fn FindMath(expr_op op, dtype type) {
  return type == dtype::float32 ? find_math<float>(op) : find_math<double>(op);
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindMath);
tile_fn find_math_tile(expr_op op, dtype type) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindMath)(op, type);
}
} // namespace headrace::detail::kernels
#endif
