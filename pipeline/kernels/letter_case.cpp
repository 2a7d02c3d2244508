#include "headrace/pipeline/kernels/letter_case.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/letter_case.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

/// Changes the case, which is one bit, of the 26 letters from `First` on.
template <char First>
void change_case(char* out, const char* in, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    const auto c = static_cast<uint8_t>(in[i]);
    const auto place = static_cast<uint8_t>(c - static_cast<uint8_t>(First));
    const auto flip = static_cast<uint8_t>(place < 26 ? 0x20 : 0);
    out[i] = static_cast<char>(c ^ flip);
  }
}

ascii_fn FindUpper() { return change_case<'a'>; }
ascii_fn FindLower() { return change_case<'A'>; }

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindUpper);
HWY_EXPORT(FindLower);
ascii_fn ascii_upper() noexcept { return HWY_DYNAMIC_DISPATCH(FindUpper)(); }
ascii_fn ascii_lower() noexcept { return HWY_DYNAMIC_DISPATCH(FindLower)(); }
} // namespace headrace::detail::kernels
#endif
