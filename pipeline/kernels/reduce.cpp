#include "headrace/pipeline/kernels/reduce.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <limits>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/reduce.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/float_ops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t lanes = 16;

template <class T>
inline constexpr bool is_small = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
/// The type of partial results.
template <class T>
using partial = std::conditional_t<is_small<T>, float, T>;

template <class T>
T lowest_of() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <class T>
T highest_of() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

// Integers wrap around: they are added and multiplied as unsigned numbers.
struct fold_sum {
  static constexpr bool chooses = false;
  template <class T>
  static T identity() {
    return T{};
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(a + 0u + b);
    else
      return a + b;
  }
};
struct fold_product {
  static constexpr bool chooses = false;
  template <class T>
  static T identity() {
    return T(1);
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>((a + 0u) * (b + 0u));
    else
      return a * b;
  }
};
struct fold_maximum {
  static constexpr bool chooses = true;
  template <class T>
  static T identity() {
    return lowest_of<T>();
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a < b ? b : a;
    else
      return float_maximum{}(a, b);
  }
};
struct fold_minimum {
  static constexpr bool chooses = true;
  template <class T>
  static T identity() {
    return highest_of<T>();
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b < a ? b : a;
    else
      return float_minimum{}(a, b);
  }
};
struct fold_and {
  static constexpr bool chooses = false;
  template <class T>
  static T identity() {
    return 1;
  }
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct fold_or {
  static constexpr bool chooses = false;
  template <class T>
  static T identity() {
    return 0;
  }
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};

template <class P, class T, class F>
P reduce_run(const T* x, size_t n) {
  P acc[lanes];
  for (auto& a : acc) a = F::template identity<P>();
  size_t width = lanes;
  // If `F` chooses one of its operands, as a maximum does, the compiler vectorises the inner loop
  // only if it cannot unroll it: the `asm` hides the value of `width` from the compiler.
  if constexpr (F::chooses)
    asm("" : "+r"(width));
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (size_t j = 0; j < width; ++j) acc[j] = F{}(acc[j], static_cast<P>(x[i + j]));
  for (size_t j = 0; i + j < n; ++j) acc[j] = F{}(acc[j], static_cast<P>(x[i + j]));
  for (size_t half = lanes / 2; half != 0; half /= 2)
    for (size_t j = 0; j < half; ++j) acc[j] = F{}(acc[j], acc[j + half]);
  return acc[0];
}

template <class T, class F, bool Mean>
void reduce_loop(void* out, const void* in, size_t outer, size_t n, size_t inner) {
  using P = partial<T>;
  auto* o = static_cast<T*>(out);
  auto* x = static_cast<const T*>(in);
  const auto finish = [&](P value) {
    if constexpr (Mean)
      return T(value / static_cast<P>(n));
    else
      return T(value);
  };
  if (inner == 1) {
    for (size_t r = 0; r < outer; ++r) o[r] = finish(reduce_run<P, T, F>(x + r * n, n));
    return;
  }
  std::vector<P> sums(inner);
  for (size_t r = 0; r < outer; ++r, o += inner) {
    auto* acc = sums.data();
    for (size_t j = 0; j < inner; ++j) acc[j] = F::template identity<P>();
    for (size_t i = 0; i < n; ++i, x += inner)
#pragma GCC ivdep
      for (size_t j = 0; j < inner; ++j) acc[j] = F{}(acc[j], static_cast<P>(x[j]));
    for (size_t j = 0; j < inner; ++j) o[j] = finish(acc[j]);
  }
}

template <class T>
reduce_fn find_sum(expr_op op) {
  if (op == expr_op::reduce_sum)
    return reduce_loop<T, fold_sum, false>;
  if (op == expr_op::reduce_prod)
    return reduce_loop<T, fold_product, false>;
  return nullptr;
}
template <class T>
reduce_fn find_extreme(expr_op op) {
  if (op == expr_op::reduce_max)
    return reduce_loop<T, fold_maximum, false>;
  if (op == expr_op::reduce_min)
    return reduce_loop<T, fold_minimum, false>;
  return nullptr;
}
template <class T>
reduce_fn find_float(expr_op op) {
  if (op == expr_op::reduce_mean)
    return reduce_loop<T, fold_sum, true>;
  auto fn = find_sum<T>(op);
  return fn ? fn : find_extreme<T>(op);
}
template <class T>
reduce_fn find_integer(expr_op op) {
  auto fn = find_sum<std::make_unsigned_t<T>>(op);
  return fn ? fn : find_extreme<T>(op);
}

reduce_fn FindReduction(expr_op op, dtype type) {
  switch (type) {
  case dtype::boolean:
    if (op == expr_op::reduce_all)
      return reduce_loop<uint8_t, fold_and, false>;
    return op == expr_op::reduce_any ? reduce_loop<uint8_t, fold_or, false> : nullptr;
  case dtype::int8: return find_integer<int8_t>(op);
  case dtype::int16: return find_integer<int16_t>(op);
  case dtype::int32: return find_integer<int32_t>(op);
  case dtype::int64: return find_integer<int64_t>(op);
  case dtype::uint8: return find_integer<uint8_t>(op);
  case dtype::uint16: return find_integer<uint16_t>(op);
  case dtype::uint32: return find_integer<uint32_t>(op);
  case dtype::uint64: return find_integer<uint64_t>(op);
  case dtype::float16: return find_float<float16>(op);
  case dtype::bfloat16: return find_float<bfloat16>(op);
  case dtype::float32: return find_float<float>(op);
  case dtype::float64: return find_float<double>(op);
  default: return nullptr;
  }
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {

namespace {

template <class C>
void complex_reduce(void* out, const void* in, size_t outer, size_t n, size_t inner, expr_op op) {
  auto* o = static_cast<C*>(out);
  auto* x = static_cast<const C*>(in);
  for (size_t r = 0; r < outer; ++r)
    for (size_t j = 0; j < inner; ++j) {
      C acc = op == expr_op::reduce_prod ? C(1) : C(0);
      for (size_t i = 0; i < n; ++i) {
        const C v = x[(r * n + i) * inner + j];
        if (op == expr_op::reduce_prod)
          acc = C(acc.real() * v.real() - acc.imag() * v.imag(),
                  acc.real() * v.imag() + acc.imag() * v.real());
        else
          acc += v;
      }
      if (op == expr_op::reduce_mean)
        acc /= static_cast<typename C::value_type>(n);
      o[r * inner + j] = acc;
    }
}

template <class C>
reduce_fn find_complex(expr_op op) {
  switch (op) {
  case expr_op::reduce_sum:
    return [](void* o, const void* x, size_t outer, size_t n, size_t inner) {
      complex_reduce<C>(o, x, outer, n, inner, expr_op::reduce_sum);
    };
  case expr_op::reduce_mean:
    return [](void* o, const void* x, size_t outer, size_t n, size_t inner) {
      complex_reduce<C>(o, x, outer, n, inner, expr_op::reduce_mean);
    };
  case expr_op::reduce_prod:
    return [](void* o, const void* x, size_t outer, size_t n, size_t inner) {
      complex_reduce<C>(o, x, outer, n, inner, expr_op::reduce_prod);
    };
  default: return nullptr;
  }
}

/// The value with which the search for the largest (or smallest) value begins: the lowest (or
/// highest) finite value of the type, as in TensorFlow. So NaN is passed over, and the result is
/// index 0 if no value is better, for example in a search for the largest of values that are all
/// -infinity.
template <class T, bool Largest>
auto worst() noexcept {
  if constexpr (std::is_same_v<T, float16>)
    return Largest ? -65504.F : 65504.F;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return Largest ? -0x1.fep127F : 0x1.fep127F;
  else
    return Largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

template <class T, bool Largest>
void arg_loop(int64_t* out, const void* in, size_t outer, size_t n, size_t inner) {
  auto* x = static_cast<const T*>(in);
  for (size_t r = 0; r < outer; ++r, x += n * inner)
    for (size_t j = 0; j < inner; ++j) {
      size_t best = 0;
      auto best_value = worst<T, Largest>();
      for (size_t i = 0; i < n; ++i) {
        const auto value = static_cast<decltype(best_value)>(x[i * inner + j]);
        if (Largest ? value > best_value : value < best_value) {
          best = i;
          best_value = value;
        }
      }
      *out++ = static_cast<int64_t>(best);
    }
}

} // namespace

HWY_EXPORT(FindReduction);
reduce_fn find_reduction(expr_op op, dtype type) noexcept {
  if (type == dtype::complex64)
    return find_complex<std::complex<float>>(op);
  if (type == dtype::complex128)
    return find_complex<std::complex<double>>(op);
  return HWY_DYNAMIC_DISPATCH(FindReduction)(op, type);
}

arg_reduce_fn find_arg_reduction(bool largest, dtype type) noexcept {
  return visit_plain(type, [largest]<class T>(T) -> arg_reduce_fn {
    if constexpr (std::is_same_v<T, bool> || is_complex(dtype_of<T>))
      return nullptr;
    else
      return largest ? arg_loop<T, true> : arg_loop<T, false>;
  });
}

} // namespace headrace::detail::kernels
#endif
