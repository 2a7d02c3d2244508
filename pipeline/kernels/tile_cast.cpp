#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_cast.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/loops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

template <class T>
inline constexpr bool is_small = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_complex_type = is_complex(dtype_of<T>);

template <class To>
struct convert {
  template <class From>
  To operator()(From x) const {
    if constexpr (is_small<From> && !std::is_same_v<From, To>)
      return convert<To>{}(static_cast<float>(x));
    else if constexpr (is_small<To> && !std::is_same_v<From, To>)
      return To{static_cast<float>(x)};
    else if constexpr (is_complex_type<To> && is_complex_type<From>)
      return To(static_cast<typename To::value_type>(x.real()),
                static_cast<typename To::value_type>(x.imag()));
    else if constexpr (is_complex_type<To>)
      return To(static_cast<typename To::value_type>(x));
    else if constexpr (std::is_same_v<To, bool>)
      return x != From{};
    else
      return static_cast<To>(x);
  }
};

template <class From, class To>
tile_fn cast_loop() {
  return unary_loop<To, From, convert<To>>;
}

template <class From>
tile_fn find_cast(dtype to) {
  if constexpr (is_complex_type<From>) {
    if (to == dtype::complex64)
      return cast_loop<From, std::complex<float>>();
    return to == dtype::complex128 ? cast_loop<From, std::complex<double>>() : nullptr;
  } else {
    return to == dtype::string
             ? nullptr
             : visit_plain(to, []<class To>(To) -> tile_fn { return cast_loop<From, To>(); });
  }
}

tile_fn FindCast(dtype from, dtype to) {
  return visit_plain(from, [to]<class From>(From) { return find_cast<From>(to); });
}

// -- `where`: the loops depend on the size of a value, not on its dtype --------

struct wide_value {
  uint64_t low, high;
};

template <class T>
void select_loop(void* out, const void* condition, const void* a, const void* b, size_t n) {
  auto* o = static_cast<T*>(out);
  auto* c = static_cast<const uint8_t*>(condition);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    const T chosen = x[i], other = y[i];
    o[i] = c[i] ? chosen : other;
  }
}

tile_fn FindSelect(size_t value_size) {
  switch (value_size) {
  case 1: return select_loop<uint8_t>;
  case 2: return select_loop<uint16_t>;
  case 4: return select_loop<uint32_t>;
  case 8: return select_loop<uint64_t>;
  case 16: return select_loop<wide_value>;
  default: return nullptr;
  }
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindCast);
HWY_EXPORT(FindSelect);
tile_fn find_cast_tile(dtype from, dtype to) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindCast)(from, to);
}
tile_fn find_select_tile(size_t value_size) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindSelect)(value_size);
}
} // namespace headrace::detail::kernels
#endif
