#include "headrace/pipeline/kernels/check.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/check.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

/// Returns the index of the first bad value from `from` on, or `n`. Runs of 256 values are tested
/// without branches, so that the compiler makes vector code. Only a run with a bad value, and the
/// values after the last whole run, are searched one by one.
template <class T, class Bad>
size_t find_bad(const void* values, size_t from, size_t n) {
  const auto* x = static_cast<const T*>(values);
  // Flags as wide as the values need no conversion in vectors.
  using flag =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  constexpr size_t run = 256;
  size_t i = from;
  for (; i + run <= n; i += run) {
    flag any = 0;
    for (size_t j = 0; j < run; ++j) any |= static_cast<flag>(Bad{}(x[i + j]));
    if (any != 0)
      break;
  }
  for (; i < n; ++i)
    if (Bad{}(x[i]))
      return i;
  return n;
}

struct is_zero {
  template <class T>
  bool operator()(T x) const {
    return x == 0;
  }
};
struct is_negative {
  template <class T>
  bool operator()(T x) const {
    return x < 0;
  }
};

/// True for values that do not fit integer type `To`. A float fits if its integer part is at least
/// the lowest value of `To` and below the highest value plus 1; floats represent both bounds
/// exactly.
template <class To>
struct unfit {
  template <class From>
  bool operator()(From x) const {
    if constexpr (std::is_integral_v<From>) {
      return !std::in_range<To>(x);
    } else {
      using wide = std::conditional_t<std::is_same_v<From, double>, double, float>;
      const auto value = static_cast<wide>(x);
      constexpr To half = std::numeric_limits<To>::max() / 2 + 1;
      constexpr wide past = static_cast<wide>(half) * wide{2};
      if constexpr (std::is_signed_v<To>) {
        constexpr wide lowest = -past;
        // The integer part of a float between `lowest - 1` and `lowest` is `lowest`. If floats of
        // this magnitude have no fraction bits, `lowest - 1` is rounded to `lowest`, and the second
        // comparison decides.
        return !(value > lowest - wide{1} || value >= lowest) || !(value < past);
      } else {
        return !(value > wide{-1}) || !(value < past);
      }
    }
  }
};

template <class From, class To>
find_bad_fn find_unfit_pair() {
  if constexpr (std::is_integral_v<From>) {
    if (std::in_range<To>(std::numeric_limits<From>::min())
        && std::in_range<To>(std::numeric_limits<From>::max()))
      return nullptr;
  }
  return find_bad<From, unfit<To>>;
}

template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<T, bool>;

find_bad_fn FindZero(dtype type) {
  return visit_plain(type, []<class T>(T) -> find_bad_fn {
    if constexpr (is_int<T>)
      return find_bad<std::make_unsigned_t<T>, is_zero>;
    else
      return nullptr;
  });
}

find_bad_fn FindNegative(dtype type) {
  return visit_plain(type, []<class T>(T) -> find_bad_fn {
    if constexpr (is_int<T> && std::is_signed_v<T>)
      return find_bad<T, is_negative>;
    else
      return nullptr;
  });
}

find_bad_fn FindUnfit(dtype type, dtype to) {
  if (!is_integer(to) || type == dtype::boolean || type == dtype::string || is_complex(type))
    return nullptr;
  return visit_plain(type, [to]<class From>(From) -> find_bad_fn {
    if constexpr (std::is_same_v<From, bool> || is_complex(dtype_of<From>))
      return nullptr;
    else
      return visit_plain(to, []<class To>(To) -> find_bad_fn {
        if constexpr (is_int<To>)
          return find_unfit_pair<From, To>();
        else
          return nullptr;
      });
  });
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {

HWY_EXPORT(FindZero);
HWY_EXPORT(FindNegative);
HWY_EXPORT(FindUnfit);
find_bad_fn find_zero(dtype type) noexcept { return HWY_DYNAMIC_DISPATCH(FindZero)(type); }
find_bad_fn find_negative(dtype type) noexcept { return HWY_DYNAMIC_DISPATCH(FindNegative)(type); }
find_bad_fn find_unfit(dtype type, dtype to) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindUnfit)(type, to);
}

} // namespace headrace::detail::kernels
#endif
