#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_small_float.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/float_ops-inl.hpp"
#include "headrace/pipeline/kernels/loops-inl.hpp"
#include "headrace/pipeline/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

/// Applies the function `F` of floats to 16-bit floats: the operands are converted to float, and
/// the result is rounded to 16 bits.
template <class F>
struct rounded {
  template <class T>
  T operator()(T a) const {
    return T{F{}(static_cast<float>(a))};
  }
  template <class T>
  T operator()(T a, T b) const {
    return T{F{}(static_cast<float>(a), static_cast<float>(b))};
  }
};

template <class T>
tile_fn find_small(expr_op op) {
  switch (op) {
  case expr_op::add: return binary_loop<T, T, rounded<float_add>>;
  case expr_op::subtract: return binary_loop<T, T, rounded<float_subtract>>;
  case expr_op::multiply: return binary_loop<T, T, rounded<float_multiply>>;
  case expr_op::divide: return binary_loop<T, T, rounded<float_divide>>;
  case expr_op::minimum: return binary_loop<T, T, rounded<float_minimum>>;
  case expr_op::maximum: return binary_loop<T, T, rounded<float_maximum>>;
  case expr_op::modulo: return binary_loop<T, T, rounded<float_modulo>>;
  case expr_op::floor_divide: return binary_loop<T, T, rounded<float_floor_divide>>;
  case expr_op::floor_modulo: return binary_loop<T, T, rounded<float_floor_modulo>>;
  case expr_op::power: return binary_loop<T, T, rounded<math_power>>;
  case expr_op::negate: return unary_loop<T, T, rounded<float_negate>>;
  case expr_op::absolute: return unary_loop<T, T, rounded<float_absolute>>;
  case expr_op::square: return unary_loop<T, T, rounded<float_square>>;
  case expr_op::sqrt: return unary_loop<T, T, rounded<float_sqrt>>;
  case expr_op::floor: return unary_loop<T, T, rounded<float_floor>>;
  case expr_op::ceil: return unary_loop<T, T, rounded<float_ceil>>;
  case expr_op::round: return unary_loop<T, T, rounded<float_round>>;
  case expr_op::sign: return unary_loop<T, T, rounded<float_sign>>;
  case expr_op::exp: return unary_loop<T, T, rounded<math_exp>>;
  case expr_op::log: return unary_loop<T, T, rounded<math_log>>;
  case expr_op::tanh: return unary_loop<T, T, rounded<math_tanh>>;
  case expr_op::sin: return unary_loop<T, T, rounded<math_sin>>;
  case expr_op::cos: return unary_loop<T, T, rounded<math_cos>>;
  default: return nullptr;
  }
}

tile_fn FindSmallFloat(expr_op op, dtype type) {
  return type == dtype::float16 ? find_small<float16>(op) : find_small<bfloat16>(op);
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindSmallFloat);
tile_fn find_small_float_tile(expr_op op, dtype type, tile_form form) noexcept {
  if (form != tile_form::vectors)
    return nullptr;
  return HWY_DYNAMIC_DISPATCH(FindSmallFloat)(op, type);
}
} // namespace headrace::detail::kernels
#endif
