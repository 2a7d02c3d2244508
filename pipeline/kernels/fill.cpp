#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/fill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

struct sixteen_bytes {
  uint64_t low, high;
};

template <class T>
void fill(void* out, const void* value, size_t n) {
  auto* o = static_cast<T*>(out);
  const T x = *static_cast<const T*>(value);
  for (size_t i = 0; i < n; ++i) o[i] = x;
}

fill_fn FindFill(size_t value_size) {
  switch (value_size) {
  case 1: return fill<uint8_t>;
  case 2: return fill<uint16_t>;
  case 4: return fill<uint32_t>;
  case 8: return fill<uint64_t>;
  default: return fill<sixteen_bytes>;
  }
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindFill);
fill_fn find_fill(size_t value_size) noexcept { return HWY_DYNAMIC_DISPATCH(FindFill)(value_size); }
} // namespace headrace::detail::kernels
#endif
