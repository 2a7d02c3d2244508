#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_float.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/float_ops-inl.hpp"
#include "headrace/pipeline/kernels/loops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

template <class T>
tile_fn find_float(expr_op op, tile_form form) {
  switch (op) {
  case expr_op::add: return right_forms<T, T, float_add>(form);
  case expr_op::subtract: return all_forms<T, T, float_subtract>(form);
  case expr_op::multiply: return right_forms<T, T, float_multiply>(form);
  case expr_op::divide: return all_forms<T, T, float_divide>(form);
  case expr_op::minimum: return right_forms<T, T, float_minimum>(form);
  case expr_op::maximum: return right_forms<T, T, float_maximum>(form);
  case expr_op::modulo: return binary_loop<T, T, float_modulo>;
  case expr_op::floor_divide: return binary_loop<T, T, float_floor_divide>;
  case expr_op::floor_modulo: return binary_loop<T, T, float_floor_modulo>;
  case expr_op::negate: return unary_loop<T, T, float_negate>;
  case expr_op::absolute: return unary_loop<T, T, float_absolute>;
  case expr_op::square: return unary_loop<T, T, float_square>;
  case expr_op::sqrt: return unary_loop<T, T, float_sqrt>;
  case expr_op::floor: return unary_loop<T, T, float_floor>;
  case expr_op::ceil: return unary_loop<T, T, float_ceil>;
  case expr_op::round: return unary_loop<T, T, float_round>;
  case expr_op::sign: return unary_loop<T, T, float_sign>;
  default: return nullptr;
  }
}

template <class T, class First, class Second>
void pair_loop(void* out, const void* a, const void* b, const void* c, size_t n) {
  auto* o = static_cast<T*>(out);
  auto* x = static_cast<const T*>(a);
  const T y = *static_cast<const T*>(b), z = *static_cast<const T*>(c);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) o[i] = Second{}(First{}(x[i], y), z);
}

template <class T, class First>
tile_fn find_second(expr_op second) {
  switch (second) {
  case expr_op::add: return pair_loop<T, First, float_add>;
  case expr_op::subtract: return pair_loop<T, First, float_subtract>;
  case expr_op::multiply: return pair_loop<T, First, float_multiply>;
  case expr_op::divide: return pair_loop<T, First, float_divide>;
  default: return nullptr;
  }
}

template <class T>
tile_fn find_pair(expr_op first, expr_op second) {
  switch (first) {
  case expr_op::add: return find_second<T, float_add>(second);
  case expr_op::subtract: return find_second<T, float_subtract>(second);
  case expr_op::multiply: return find_second<T, float_multiply>(second);
  case expr_op::divide: return find_second<T, float_divide>(second);
  default: return nullptr;
  }
}

tile_fn FindPair(expr_op first, expr_op second, dtype type) {
  return type == dtype::float32 ? find_pair<float>(first, second)
                                : find_pair<double>(first, second);
}

tile_fn FindFloat(expr_op op, dtype type, tile_form form) {
  return type == dtype::float32 ? find_float<float>(op, form) : find_float<double>(op, form);
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindFloat);
HWY_EXPORT(FindPair);
tile_fn find_pair_tile(expr_op first, expr_op second, dtype type) noexcept {
  if (type != dtype::float32 && type != dtype::float64)
    return nullptr;
  return HWY_DYNAMIC_DISPATCH(FindPair)(first, second, type);
}
tile_fn find_float_tile(expr_op op, dtype type, tile_form form) noexcept {
  const bool vectors_only =
    op == expr_op::modulo || op == expr_op::floor_divide || op == expr_op::floor_modulo;
  if (vectors_only && form != tile_form::vectors)
    return nullptr;
  return HWY_DYNAMIC_DISPATCH(FindFloat)(op, type, form);
}
} // namespace headrace::detail::kernels
#endif
