#include "headrace/pipeline/kernels/targets.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/tile_integer.cpp"
#include <hwy/foreach_target.h>

#include "headrace/pipeline/kernels/loops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

// Overflow wraps around: the arithmetic is unsigned and at least as wide as `unsigned`, so that no
// operand is promoted to a signed type.
template <class T>
using wrapping = decltype(std::make_unsigned_t<T>{} + 0u);

#define HEADRACE_WRAPPING(name, expression)                                                        \
  struct name {                                                                                    \
    template <class T>                                                                             \
    T operator()(T a, T b) const {                                                                 \
      using W = wrapping<T>;                                                                       \
      const auto x = static_cast<W>(a), y = static_cast<W>(b);                                     \
      return static_cast<T>(expression);                                                           \
    }                                                                                              \
  }
HEADRACE_WRAPPING(wrap_add, x + y);
HEADRACE_WRAPPING(wrap_subtract, x - y);
HEADRACE_WRAPPING(wrap_multiply, x* y);
HEADRACE_WRAPPING(op_and, x& y);
HEADRACE_WRAPPING(op_or, x | y);
HEADRACE_WRAPPING(op_xor, x ^ y);
#undef HEADRACE_WRAPPING

struct wrap_square {
  template <class T>
  T operator()(T a) const {
    return wrap_multiply{}(a, a);
  }
};
struct wrap_negate {
  template <class T>
  T operator()(T a) const {
    return wrap_subtract{}(T{0}, a);
  }
};
struct op_minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct op_maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct op_absolute {
  template <class T>
  T operator()(T a) const {
    return a < T{0} ? wrap_negate{}(a) : a;
  }
};
struct op_sign {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>((a > T{0}) - (a < T{0}));
  }
};
struct op_not {
  uint8_t operator()(uint8_t a) const { return a ^ 1u; }
};

struct op_divide {
  static constexpr bool truncates = true, gives_quotient = true;
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0)
      return 0;
    // The quotient of the lowest value and -1 is the only one that overflows; it wraps around.
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return wrap_negate{}(a);
    return static_cast<T>(a / b);
  }
};
struct op_modulo {
  static constexpr bool truncates = true, gives_quotient = false;
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)))
      return 0;
    return static_cast<T>(a % b);
  }
};
struct op_floor_divide {
  static constexpr bool truncates = false, gives_quotient = true;
  template <class T>
  T operator()(T a, T b) const {
    const T quotient = op_divide{}(a, b);
    const T rest = op_modulo{}(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
  }
};
struct op_floor_modulo {
  static constexpr bool truncates = false, gives_quotient = false;
  template <class T>
  T operator()(T a, T b) const {
    const T rest = op_modulo{}(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};
struct op_power {
  template <class T>
  T operator()(T base, T exponent) const {
    if (exponent < 0)
      return 0;
    T out = 1;
    for (auto left = static_cast<std::make_unsigned_t<T>>(exponent); left != 0;
         left = static_cast<decltype(left)>(left >> 1)) {
      if (left & 1u)
        out = wrap_multiply{}(out, base);
      base = wrap_multiply{}(base, base);
    }
    return out;
  }
};

template <class T>
bool out_of_width(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) >= sizeof(T) * 8;
}
struct op_shift_left {
  template <class T>
  T operator()(T a, T count) const {
    if (out_of_width(count))
      return 0;
    return static_cast<T>(static_cast<wrapping<T>>(a) << count);
  }
};
struct op_shift_right {
  template <class T>
  T operator()(T a, T count) const {
    if (out_of_width(count))
      return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> count);
  }
};

/// Divides all values by the same divisor, and writes the quotients or the remainders. If the
/// divisor is a power of two, shifts or a mask replace the slow division instruction.
template <class T, class F>
void divide_loop(void* out, const void* a, const void* b, const void* c, size_t n) {
  const T divisor = *static_cast<const T*>(b);
  if (divisor <= 0 || (divisor & static_cast<T>(divisor - 1)) != 0)
    return right_scalar_loop<T, T, F>(out, a, b, c, n);
  const auto mask = static_cast<T>(divisor - 1);
  int shift = 0;
  while (static_cast<T>(divisor >> shift) != 1) ++shift;
  auto* o = static_cast<T*>(out);
  auto* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) {
    using W = wrapping<T>;
    // For rounding towards zero, the mask is added to negative values first.
    const T raise = F::truncates && x[i] < 0 ? mask : T{0};
    const auto raised = static_cast<T>(static_cast<W>(x[i]) + static_cast<W>(raise));
    if constexpr (F::gives_quotient)
      o[i] = static_cast<T>(raised >> shift);
    else
      o[i] = static_cast<T>(static_cast<W>(raised & mask) - static_cast<W>(raise));
  }
}
template <class T, class F>
tile_fn divide_forms(tile_form form) {
  return form == tile_form::right_scalar ? divide_loop<T, F> : right_forms<T, T, F>(form);
}

/// Functions whose result has the same bits for the signed and the unsigned type.
template <class T>
tile_fn find_signless(expr_op op, tile_form form) {
  switch (op) {
  case expr_op::add: return right_forms<T, T, wrap_add>(form);
  case expr_op::subtract: return all_forms<T, T, wrap_subtract>(form);
  case expr_op::multiply: return right_forms<T, T, wrap_multiply>(form);
  case expr_op::negate: return unary_loop<T, T, wrap_negate>;
  case expr_op::square: return unary_loop<T, T, wrap_square>;
  case expr_op::bit_and: return right_forms<T, T, op_and>(form);
  case expr_op::bit_or: return right_forms<T, T, op_or>(form);
  case expr_op::bit_xor: return right_forms<T, T, op_xor>(form);
  case expr_op::shift_left: return right_forms<T, T, op_shift_left>(form);
  default: return nullptr;
  }
}

template <class T>
tile_fn find_typed(expr_op op, tile_form form) {
  switch (op) {
  case expr_op::minimum: return right_forms<T, T, op_minimum>(form);
  case expr_op::maximum: return right_forms<T, T, op_maximum>(form);
  case expr_op::absolute: return unary_loop<T, T, op_absolute>;
  case expr_op::sign: return unary_loop<T, T, op_sign>;
  case expr_op::divide: return divide_forms<T, op_divide>(form);
  case expr_op::modulo: return divide_forms<T, op_modulo>(form);
  case expr_op::floor_divide: return divide_forms<T, op_floor_divide>(form);
  case expr_op::floor_modulo: return divide_forms<T, op_floor_modulo>(form);
  case expr_op::power: return right_forms<T, T, op_power>(form);
  case expr_op::shift_right: return right_forms<T, T, op_shift_right>(form);
  default: return find_signless<std::make_unsigned_t<T>>(op, form);
  }
}

tile_fn FindBool(expr_op op, tile_form form) {
  switch (op) {
  case expr_op::logical_and:
  case expr_op::bit_and: return right_forms<uint8_t, uint8_t, op_and>(form);
  case expr_op::logical_or:
  case expr_op::bit_or: return right_forms<uint8_t, uint8_t, op_or>(form);
  case expr_op::bit_xor: return right_forms<uint8_t, uint8_t, op_xor>(form);
  case expr_op::logical_not: return unary_loop<uint8_t, uint8_t, op_not>;
  default: return nullptr;
  }
}

tile_fn FindInteger(expr_op op, dtype type, tile_form form) {
  if (type == dtype::boolean)
    return FindBool(op, form);
  return for_integer(type, [&]<class T>(T) { return find_typed<T>(op, form); });
}

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {
HWY_EXPORT(FindInteger);
tile_fn find_integer_tile(expr_op op, dtype type, tile_form form) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindInteger)(op, type, form);
}
} // namespace headrace::detail::kernels
#endif
