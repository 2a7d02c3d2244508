#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_comparison.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/loops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

#define HEADRACE_COMPARISON(name, op)                                                              \
  struct name {                                                                                    \
    template <class T>                                                                             \
    uint8_t operator()(T a, T b) const {                                                           \
      return a op b;                                                                               \
    }                                                                                              \
  }
HEADRACE_COMPARISON(is_equal, ==);
HEADRACE_COMPARISON(is_not_equal, !=);
HEADRACE_COMPARISON(is_less, <);
HEADRACE_COMPARISON(is_less_equal, <=);
HEADRACE_COMPARISON(is_greater, >);
HEADRACE_COMPARISON(is_greater_equal, >=);
#undef HEADRACE_COMPARISON

/// 16-bit floats are compared as 32-bit floats.
template <class F>
struct widened {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return F{}(static_cast<float>(a), static_cast<float>(b));
  }
};
struct is_nan {
  template <class T>
  uint8_t operator()(T a) const {
    return a != a;
  }
};
struct is_small_nan {
  template <class T>
  uint8_t operator()(T a) const {
    return is_nan{}(static_cast<float>(a));
  }
};

template <class T>
tile_fn find_equality(expr_op op, tile_form form) {
  if (op == expr_op::equal)
    return right_forms<uint8_t, T, is_equal>(form);
  if (op == expr_op::not_equal)
    return right_forms<uint8_t, T, is_not_equal>(form);
  return nullptr;
}

template <class T>
tile_fn find_order(expr_op op, tile_form form) {
  switch (op) {
  case expr_op::less: return right_forms<uint8_t, T, is_less>(form);
  case expr_op::less_equal: return right_forms<uint8_t, T, is_less_equal>(form);
  case expr_op::greater: return right_forms<uint8_t, T, is_greater>(form);
  case expr_op::greater_equal: return right_forms<uint8_t, T, is_greater_equal>(form);
  default: return nullptr;
  }
}

template <class T>
tile_fn find_float(expr_op op, tile_form form) {
  if (op == expr_op::is_nan)
    return form == tile_form::vectors ? unary_loop<uint8_t, T, is_nan> : nullptr;
  auto fn = find_equality<T>(op, form);
  return fn ? fn : find_order<T>(op, form);
}

/// Signed integers share the tests for equality with the unsigned ones.
template <class T>
tile_fn find_integer(expr_op op, tile_form form) {
  auto fn = find_equality<std::make_unsigned_t<T>>(op, form);
  return fn ? fn : find_order<T>(op, form);
}

template <class T>
tile_fn find_small(expr_op op, tile_form form) {
  if (form != tile_form::vectors)
    return nullptr;
  switch (op) {
  case expr_op::equal: return binary_loop<uint8_t, T, widened<is_equal>>;
  case expr_op::not_equal: return binary_loop<uint8_t, T, widened<is_not_equal>>;
  case expr_op::less: return binary_loop<uint8_t, T, widened<is_less>>;
  case expr_op::less_equal: return binary_loop<uint8_t, T, widened<is_less_equal>>;
  case expr_op::greater: return binary_loop<uint8_t, T, widened<is_greater>>;
  case expr_op::greater_equal: return binary_loop<uint8_t, T, widened<is_greater_equal>>;
  case expr_op::is_nan: return unary_loop<uint8_t, T, is_small_nan>;
  default: return nullptr;
  }
}

tile_fn FindComparison(expr_op op, dtype type, tile_form form) {
  switch (type) {
  case dtype::boolean: return find_equality<uint8_t>(op, form);
  case dtype::float16: return find_small<float16>(op, form);
  case dtype::bfloat16: return find_small<bfloat16>(op, form);
  case dtype::float32: return find_float<float>(op, form);
  case dtype::float64: return find_float<double>(op, form);
  default: return for_integer(type, [&]<class T>(T) { return find_integer<T>(op, form); });
  }
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindComparison);
tile_fn find_comparison_tile(expr_op op, dtype type, tile_form form) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindComparison)(op, type, form);
}
} // namespace headrace::detail::kernels
#endif
