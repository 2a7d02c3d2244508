// exp, log, tanh, sin, cos and pow of floats, compiled once for each target. They compute
// polynomials without fused multiply-add and in a fixed order, because libraries choose different
// code for different CPUs, with results that differ in the last bit. The algorithms are those of
// Cephes (S. Moshier) and fdlibm (Sun Microsystems).
#if defined(HEADRACE_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#  ifdef HEADRACE_MATH_INL
#    undef HEADRACE_MATH_INL
#  else
#    define HEADRACE_MATH_INL
#  endif

#  include "headrace/pipeline/kernels/reduce_angle.hpp"

#  include <bit>
#  include <cmath>
#  include <cstdint>
#  include <hwy/highway.h>
#  include <limits>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {

/// The layout and constants of the formats float and double.
template <class T>
struct format;
template <>
struct format<float> {
  using bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  /// If this number is added to a value, the low bits of the sum are the value, rounded to an
  /// integer.
  static constexpr float rounder = 0x1.8p23f;
  static constexpr float integer = 0x1p23f;
};
template <>
struct format<double> {
  using bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double integer = 0x1p52;
};

template <class T>
inline T nan_of() {
  return std::numeric_limits<T>::quiet_NaN();
}
template <class T>
inline T infinity_of() {
  return std::numeric_limits<T>::infinity();
}

/// 2^n, for an `n` for which this is a normal number.
template <class T, class Bits>
inline T power_of_two(Bits n) {
  using f = format<T>;
  return std::bit_cast<T>(static_cast<typename f::bits>((n + f::bias) << f::mantissa));
}

inline float exp_core(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r + 1.0f;
}
inline double exp_core(double r) {
  const double z = r * r;
  const double p =
    r
    * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 9.99999999999999999910e-1);
  const double q =
    ((3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z + 2.27265548208155028766e-1)
      * z
    + 2.00000000000000000005;
  return 1.0 + 2.0 * (p / (q - p));
}

struct math_exp {
  template <class T>
  T operator()(T x) const {
    constexpr bool single = sizeof(T) == 4;
    constexpr T highest = single ? T(88.722839) : T(709.782712893384);
    constexpr T lowest = single ? T(-104.0) : T(-745.2);
    constexpr T ln2_high = single ? T(0.693359375) : T(6.93145751953125e-1);
    constexpr T ln2_low = single ? T(-2.12194440e-4) : T(1.42860682030941723212e-6);
    const T inside = x > highest ? highest : x < lowest ? lowest : x;
    const T shifted = inside * T(1.44269504088896340736) + format<T>::rounder;
    using bits = typename format<T>::bits;
    const bits n = std::bit_cast<bits>(shifted) - std::bit_cast<bits>(format<T>::rounder);
    const T whole = shifted - format<T>::rounder;
    const T r = (inside - whole * ln2_high) - whole * ln2_low;
    // The factor 2^n is divided into two factors, because 2^n itself may be no normal number.
    using signed_bits = std::make_signed_t<bits>;
    const auto half = static_cast<bits>(static_cast<signed_bits>(n + 2048) >> 1) - 1024;
    const T scaled =
      exp_core(r) * power_of_two<T>(half) * power_of_two<T>(static_cast<bits>(n - half));
    const T bounded = x > highest ? infinity_of<T>() : x < lowest ? T(0) : scaled;
    return x != x ? x : bounded;
  }
};

/// Splits x = m * 2^k with m in [sqrt(1/2), sqrt(2)), for finite x > 0. Returns m - 1, and sets
/// `k`.
template <class T>
inline T split_log(T x, T& k) {
  using f = format<T>;
  using bits = typename f::bits;
  constexpr T smallest = std::numeric_limits<T>::min();
  const bool tiny = x < smallest;
  const T normal = tiny ? x * (f::integer * T(4)) : x;
  const auto raw = std::bit_cast<bits>(normal);
  constexpr bits root_half =
    sizeof(T) == 4 ? static_cast<bits>(0x3f3504f3u) : static_cast<bits>(0x3fe6a09e667f3bcdull);
  const bits shifted = raw - root_half;
  constexpr bits fraction_mask = (bits{1} << f::mantissa) - 1;
  const T m = std::bit_cast<T>(static_cast<bits>((shifted & fraction_mask) + root_half));
  using signed_bits = std::make_signed_t<bits>;
  const auto power = static_cast<signed_bits>(shifted) >> f::mantissa;
  const auto magic = std::bit_cast<bits>(f::rounder) + static_cast<bits>(power);
  k = (std::bit_cast<T>(magic) - f::rounder) - (tiny ? T(f::mantissa + 2) : T(0));
  return m - T(1);
}

inline float log_tail(float z) {
  const float w = z * z;
  return z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
}
inline double log_tail(double z) {
  const double w = z * z;
  const double odd =
    w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double even = z
                      * (6.666666666666735130e-01
                         + w
                             * (2.857142874366239149e-01
                                + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return even + odd;
}

struct math_log {
  template <class T>
  T operator()(T x) const {
    constexpr bool single = sizeof(T) == 4;
    constexpr T ln2_high = single ? T(6.9313812256e-01) : T(6.93147180369123816490e-01);
    constexpr T ln2_low = single ? T(9.0580006145e-06) : T(1.90821492927058770002e-10);
    T k;
    const T f = split_log(x, k);
    const T s = f / (T(2) + f);
    const T half_square = T(0.5) * f * f;
    const T r = log_tail(s * s);
    const T core = k * ln2_high - ((half_square - (s * (half_square + r) + k * ln2_low)) - f);
    const T bounded = x == infinity_of<T>() ? x : core;
    const T positive = x == T(0) ? -infinity_of<T>() : x < T(0) ? nan_of<T>() : bounded;
    return x != x ? x : positive;
  }
};

inline float tanh_core(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  return p * z * x + x;
}
inline double tanh_core(double x) {
  const double z = x * x;
  const double p =
    (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
  const double q =
    ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
  return x + x * z * (p / q);
}

struct math_tanh {
  template <class T>
  T operator()(T x) const {
    const T magnitude = std::abs(x);
    const T small = tanh_core(x);
    const T large = std::copysign(T(1) - T(2) / (math_exp{}(magnitude + magnitude) + T(1)), x);
    const T bounded = magnitude < T(0.625) ? small : large;
    return x != x ? x : bounded;
  }
};

// -- sine and cosine: in double for both formats ------------------------------

inline double sine_core(double x, double tail) {
  const double z = x * x, v = z * x;
  const double r =
    8.33333333332248946124e-03
    + z
        * (-1.98412698298579493134e-04
           + z
               * (2.75573137070700676789e-06
                  + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x - ((z * (0.5 * tail - v * r) - tail) - v * -1.66666666666666324348e-01);
}
inline double cosine_core(double x, double tail) {
  const double z = x * x;
  const double r = z
                   * (4.16666666666666019037e-02
                      + z
                          * (-1.38888888888741095749e-03
                             + z
                                 * (2.48015872894767294178e-05
                                    + z
                                        * (-2.75573143513906633035e-07
                                           + z
                                               * (2.08757232129817482790e-09
                                                  + z * -1.13596475577881948265e-11)))));
  const double half = 0.5 * z, w = 1.0 - half;
  return w + (((1.0 - w) - half) + (z * r - x * tail));
}

/// Up to this angle, a sum of three doubles is a precise enough pi/2 to subtract quarter turns.
inline constexpr double largest_fast_angle = 800000.0;

/// The sine of the angle plus `Quarter` quarter turns, for angles up to `largest_fast_angle`. There
/// are no branches, so that the compiler makes vector code.
template <int Quarter>
struct fast_wave {
  double operator()(double x) const {
    const double shifted = x * 6.36619772367581382433e-01 + format<double>::rounder;
    const auto n = std::bit_cast<uint64_t>(shifted) + Quarter;
    const double whole = shifted - format<double>::rounder;
    const double first = x - whole * 1.57079632673412561417e+00;
    const double w = whole * 6.07710050630396597660e-11;
    const double second = first - w;
    const double rest = whole * 2.02226624879595063154e-21 - ((first - second) - w);
    const double angle = second - rest;
    const double tail = (second - angle) - rest;
    return pick(n, angle, tail);
  }
  static double pick(uint64_t n, double angle, double tail) {
    const double s = sine_core(angle, tail), c = cosine_core(angle, tail);
    const double value = (n & 1) != 0 ? c : s;
    return (n & 2) != 0 ? -value : value;
  }
  float operator()(float x) const { return static_cast<float>((*this)(static_cast<double>(x))); }
};

template <int Quarter>
struct math_wave {
  template <class T>
  T operator()(T x) const {
    if (std::abs(x) <= T(largest_fast_angle))
      return fast_wave<Quarter>{}(x);
    if (!(std::abs(x) < infinity_of<T>()))
      return nan_of<T>();
    double angle, tail;
    const auto n = reduce_angle(static_cast<double>(x), angle, tail) + Quarter;
    return static_cast<T>(fast_wave<Quarter>::pick(n, angle, tail));
  }
};
using math_sin = math_wave<0>;
using math_cos = math_wave<1>;

// -- power --------------------------------------------------------------------

/// A number as the sum of two doubles: `low` is the rounding error of `high`.
struct two_doubles {
  double high, low;
};
inline two_doubles exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
inline two_doubles exact_product(double a, double b) {
  // Dekker's product: each operand is split into two halves of 26 bits, whose products are exact.
  // The operands must be so far from overflow that the split does not overflow.
  const auto split = [](double x) {
    const double big = x * 134217729.0;
    const double high = big - (big - x);
    return two_doubles{high, x - high};
  };
  const double product = a * b;
  const auto x = split(a), y = split(b);
  const double error =
    ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
  return {product, error};
}

inline two_doubles log_of(double x) {
  double k;
  const double f = split_log(x, k);
  const auto below = exact_sum(2.0, f);
  const double s = f / below.high;
  const auto back = exact_product(s, below.high);
  const double s_low = ((f - back.high) - back.low - s * below.low) / below.high;
  const double series = s * log_tail(s * s);
  auto out = exact_sum(k * 6.93147180369123816490e-01, 2.0 * s);
  const double low = out.low + (2.0 * s_low + (series + k * 1.90821492927058770002e-10));
  return exact_sum(out.high, low);
}

struct math_power {
  template <class T>
  T operator()(T base, T exponent) const {
    return static_cast<T>(of(static_cast<double>(base), static_cast<double>(exponent)));
  }
  static double of(double x, double y) {
    if (y == 0 || x == 1)
      return 1;
    // For these frequent exponents the power is one correctly rounded operation.
    if (y == 1)
      return x;
    if (y == 2)
      return x * x;
    if (y == -1)
      return 1 / x;
    if (y == 0.5 && x > 0)
      return std::sqrt(x);
    if (x != x || y != y)
      return nan_of<double>();
    const double magnitude = std::abs(x);
    // Doubles of 2^53 and more are even integers.
    const bool integer = std::abs(y) >= 0x1p53 || y == static_cast<double>(static_cast<int64_t>(y));
    const bool odd = integer && std::abs(y) < 0x1p53 && (static_cast<int64_t>(y) & 1) != 0;
    const bool negative = std::signbit(x) && odd;
    double out;
    if (magnitude == 0 || magnitude == infinity_of<double>()) {
      out = (magnitude == 0) == (y < 0) ? infinity_of<double>() : 0.0;
    } else if (std::abs(y) == infinity_of<double>()) {
      out = magnitude == 1 ? 1.0 : (magnitude > 1) == (y > 0) ? infinity_of<double>() : 0.0;
    } else if (x < 0 && !integer) {
      return nan_of<double>();
    } else {
      out = raise(magnitude, y);
    }
    return negative ? -out : out;
  }
  static double raise(double x, double y) {
    const auto log = log_of(x);
    if (std::abs(y) > 0x1p70 || std::abs(y * log.high) > 800.0)
      return x == 1 ? 1.0 : (log.high > 0) == (y > 0) ? infinity_of<double>() : 0.0;
    const auto product = exact_product(y, log.high);
    const auto power = exact_sum(product.high, product.low + y * log.low);
    const double whole = math_exp{}(power.high);
    return whole == infinity_of<double>() ? whole : whole + whole * power.low;
  }
};

} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
