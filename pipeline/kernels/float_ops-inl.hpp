// Functions of floats that consist of operations that are exact or correctly rounded (IEEE 754), so
// that their results have the same bits on every CPU. They are compiled once for each target.
#if defined(HEADRACE_FLOAT_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#  ifdef HEADRACE_FLOAT_OPS_INL
#    undef HEADRACE_FLOAT_OPS_INL
#  else
#    define HEADRACE_FLOAT_OPS_INL
#  endif

#  include <cmath>
#  include <cstdint>
#  include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {

struct float_add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct float_subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct float_multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct float_divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
// The minimum and the maximum are NaN if either operand is NaN, and `a` if the operands are equal.
struct float_minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || b != b ? b : a;
  }
};
struct float_maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || b != b ? b : a;
  }
};
struct float_negate {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
struct float_absolute {
  template <class T>
  T operator()(T a) const {
    return std::abs(a);
  }
};
struct float_square {
  template <class T>
  T operator()(T a) const {
    return a * a;
  }
};
struct float_sqrt {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

/// Rounds to the nearest integer, halves to even. Adding and subtracting 2^23 (for double 2^52)
/// removes all fraction bits; larger values have none.
struct float_round {
  template <class T>
  T operator()(T a) const {
    constexpr T big = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
    const T magnitude = std::abs(a);
    const T rounded = std::copysign((magnitude + big) - big, a);
    return magnitude < big ? rounded : a;
  }
};
struct float_floor {
  template <class T>
  T operator()(T a) const {
    const T rounded = float_round{}(a);
    return std::copysign(rounded > a ? rounded - T{1} : rounded, a);
  }
};
struct float_ceil {
  template <class T>
  T operator()(T a) const {
    const T rounded = float_round{}(a);
    return std::copysign(rounded < a ? rounded + T{1} : rounded, a);
  }
};
struct float_sign {
  template <class T>
  T operator()(T a) const {
    return a > T{0} ? T{1} : a < T{0} ? T{-1} : a;
  }
};
// fmod is exact, so every library returns the same result.
struct float_modulo {
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};
struct float_floor_divide {
  template <class T>
  T operator()(T a, T b) const {
    return float_floor{}(a / b);
  }
};
struct float_floor_modulo {
  template <class T>
  T operator()(T a, T b) const {
    const T rest = std::fmod(a, b);
    return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
  }
};

} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
