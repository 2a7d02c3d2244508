#include "headrace/pipeline/kernels/tile.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::is_small;
using test::targets_here;

/// Special values and random ones.
template <class T>
std::vector<T> samples(uint64_t seed, size_t n) {
  std::mt19937_64 random{seed};
  std::vector<T> out;
  if constexpr (std::is_same_v<T, bool>) {
    for (size_t i = 0; i < n; ++i) out.push_back(random() % 2 != 0);
  } else if constexpr (std::is_integral_v<T>) {
    for (T x : {T{0}, T{1}, static_cast<T>(-1), T{2}, T{7}, std::numeric_limits<T>::min(),
                std::numeric_limits<T>::max()})
      out.push_back(x);
    while (out.size() < n) out.push_back(static_cast<T>(random() >> (random() % 64)));
  } else {
    for (double x :
         {0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 3.5, -2.5, 1e30, -1e30, 1e-40, 0.1,
          double{INFINITY}, -double{INFINITY}, double{NAN}, 8388609.0, -4503599627370497.0})
      out.push_back(static_cast<T>(static_cast<std::conditional_t<is_small<T>, float, T>>(x)));
    std::uniform_real_distribution<double> exponent{-12, 12};
    while (out.size() < n) {
      const double x = std::exp2(exponent(random)) * (random() % 2 != 0 ? 1 : -1);
      out.push_back(static_cast<T>(static_cast<std::conditional_t<is_small<T>, float, T>>(x)));
    }
  }
  out.resize(n);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

template <class T>
bool same(T a, T b) {
  if constexpr (is_floating(dtype_of<T>)) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  } else {
    return a == b;
  }
}

__extension__ using wide = __int128;
__extension__ using unsigned_wide = unsigned __int128;

template <class T>
T wrap(wide x) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(static_cast<unsigned_wide>(x)));
}
wide floor_quotient(wide a, wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// The result of a function for two integers, computed with 128 bits; nullopt for functions and
/// arguments that are not compared.
template <class T>
std::optional<T> integer_reference(expr_op op, T x, T y) {
  const wide a = x, b = y;
  const bool zero = b == 0;
  switch (op) {
  case expr_op::add: return wrap<T>(a + b);
  case expr_op::subtract: return wrap<T>(a - b);
  case expr_op::multiply:
    return wrap<T>(
      static_cast<wide>(static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(b)));
  case expr_op::divide: return wrap<T>(zero ? 0 : a / b);
  case expr_op::modulo: return wrap<T>(zero ? 0 : a % b);
  case expr_op::floor_divide: return wrap<T>(zero ? 0 : floor_quotient(a, b));
  case expr_op::floor_modulo: return wrap<T>(zero ? 0 : a - b * floor_quotient(a, b));
  case expr_op::minimum: return std::min(x, y);
  case expr_op::maximum: return std::max(x, y);
  case expr_op::negate: return wrap<T>(-a);
  case expr_op::absolute: return wrap<T>(a < 0 ? -a : a);
  case expr_op::square:
    return wrap<T>(
      static_cast<wide>(static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(a)));
  case expr_op::sign: return wrap<T>((a > 0) - (a < 0));
  case expr_op::bit_and: return static_cast<T>(x & y);
  case expr_op::bit_or: return static_cast<T>(x | y);
  case expr_op::bit_xor: return static_cast<T>(x ^ y);
  case expr_op::shift_left: {
    const bool inside = b >= 0 && b < wide{sizeof(T)} * 8;
    return inside ? wrap<T>(static_cast<wide>(static_cast<unsigned_wide>(a) << static_cast<int>(b)))
                  : T{0};
  }
  case expr_op::shift_right: {
    const bool inside = b >= 0 && b < wide{sizeof(T)} * 8;
    return wrap<T>(a >> (inside ? static_cast<int>(b) : 127));
  }
  case expr_op::power: {
    if (b < 0)
      return T{0};
    T out = 1;
    // The reference multiplies `b` times, unlike the kernel, which squares and multiplies.
    // Exponents above 200 are not checked, because they would take too many products.
    if (b > 200)
      return std::nullopt;
    for (wide i = 0; i < b; ++i) out = wrap<T>(static_cast<wide>(out) * a);
    return out;
  }
  default: return std::nullopt;
  }
}

/// The result of a function of floats, computed as a double and rounded to `T`; nullopt for
/// functions that are not compared.
template <class T>
std::optional<T> float_reference(expr_op op, T x, T y) {
  const auto exact = [](double v) {
    if constexpr (is_small<T>)
      return T{static_cast<float>(v)};
    else
      return static_cast<T>(v);
  };
  const double a = static_cast<double>(x), b = static_cast<double>(y);
  switch (op) {
  case expr_op::add: return exact(a + b);
  case expr_op::subtract: return exact(a - b);
  case expr_op::multiply: return exact(a * b);
  case expr_op::divide: return exact(a / b);
  case expr_op::modulo: return exact(std::fmod(a, b));
  case expr_op::minimum: return std::isnan(a) || std::isnan(b) ? exact(NAN) : b < a ? y : x;
  case expr_op::maximum: return std::isnan(a) || std::isnan(b) ? exact(NAN) : b > a ? y : x;
  case expr_op::negate: return exact(-a);
  case expr_op::absolute: return exact(std::fabs(a));
  case expr_op::square: return exact(a * a);
  case expr_op::sqrt: return exact(std::sqrt(a));
  case expr_op::floor: return exact(std::floor(a));
  case expr_op::ceil: return exact(std::ceil(a));
  case expr_op::round: return exact(std::nearbyint(a));
  case expr_op::sign: return std::isnan(a) || a == 0 ? x : exact(a > 0 ? 1 : -1);
  default: return std::nullopt;
  }
}

constexpr expr_op arithmetic[] = {
  expr_op::add,          expr_op::subtract,   expr_op::multiply,    expr_op::divide,
  expr_op::floor_divide, expr_op::modulo,     expr_op::negate,      expr_op::absolute,
  expr_op::minimum,      expr_op::maximum,    expr_op::power,       expr_op::floor_modulo,
  expr_op::square,       expr_op::sqrt,       expr_op::floor,       expr_op::ceil,
  expr_op::round,        expr_op::sign,       expr_op::bit_and,     expr_op::bit_or,
  expr_op::bit_xor,      expr_op::shift_left, expr_op::shift_right,
};

template <class T>
void check_arithmetic() {
  constexpr size_t n = 1003;
  const auto a = samples<T>(1, n), b = samples<T>(2, n);
  for (const auto op : arithmetic) {
    for (const auto form : {tile_form::vectors, tile_form::right_scalar, tile_form::left_scalar}) {
      const auto fn = find_tile(op, dtype_of<T>, form);
      if (fn == nullptr)
        continue;
      std::vector<T> out(n);
      fn(out.data(), a.data(), b.data(), nullptr, n);
      for (size_t i = 0; i < n; ++i) {
        const T x = form == tile_form::left_scalar ? a[0] : a[i];
        const T y = form == tile_form::right_scalar ? b[0] : b[i];
        std::optional<T> wanted;
        if constexpr (std::is_integral_v<T>)
          wanted = integer_reference(op, x, y);
        else
          wanted = float_reference(op, x, y);
        if (wanted) {
          ASSERT_TRUE(same(out[i], *wanted))
            << static_cast<int>(op) << " " << to_string(dtype_of<T>) << " form "
            << static_cast<int>(form) << ": " << static_cast<double>(x) << ", "
            << static_cast<double>(y) << " gives " << static_cast<double>(out[i]);
        }
      }
    }
  }
}

/// Checks the divisors that are powers of two, for which kernels have separate code, their
/// negatives, and the numbers one less than powers of two.
template <class T>
void check_divisors() {
  constexpr size_t n = 403;
  const auto a = samples<T>(7, n);
  for (int b = 0; b < static_cast<int>(sizeof(T) * 8); ++b) {
    const auto power = uint64_t{1} << b;
    for (const T divisor :
         {static_cast<T>(power), static_cast<T>(power - 1), static_cast<T>(0 - power)})
      for (const auto op :
           {expr_op::divide, expr_op::modulo, expr_op::floor_divide, expr_op::floor_modulo}) {
        std::vector<T> out(n);
        find_tile(op, dtype_of<T>, tile_form::right_scalar)(out.data(), a.data(), &divisor, nullptr,
                                                            n);
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(out[i], *integer_reference(op, a[i], divisor))
            << static_cast<int>(op) << " " << to_string(dtype_of<T>) << " " << +a[i] << " by "
            << +divisor;
      }
  }
}

TEST(Tiles, DivideByPowersOfTwoAndTheirNeighbours) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    check_divisors<int8_t>();
    check_divisors<int16_t>();
    check_divisors<int32_t>();
    check_divisors<int64_t>();
    check_divisors<uint8_t>();
    check_divisors<uint16_t>();
    check_divisors<uint32_t>();
    check_divisors<uint64_t>();
  }
}

TEST(Tiles, ComputeWithComplexNumbers) {
  using complex = std::complex<double>;
  const std::vector<complex> a{{1, 2}, {-3, 0.5}, {0, 0}}, b{{2, -1}, {-3, 0.5}, {1, 1}};
  const auto run = [&](expr_op op) {
    std::vector<complex> out(3);
    find_tile(op, dtype::complex128)(out.data(), a.data(), b.data(), nullptr, 3);
    return out;
  };
  EXPECT_EQ(run(expr_op::add), (std::vector<complex>{{3, 1}, {-6, 1}, {1, 1}}));
  EXPECT_EQ(run(expr_op::subtract), (std::vector<complex>{{-1, 3}, {0, 0}, {-1, -1}}));
  EXPECT_EQ(run(expr_op::multiply), (std::vector<complex>{{4, 3}, {8.75, -3}, {0, 0}}));
  EXPECT_EQ(run(expr_op::negate), (std::vector<complex>{{-1, -2}, {3, -0.5}, {0, 0}}));
  std::vector<uint8_t> flags(3);
  find_tile(expr_op::equal, dtype::complex128)(flags.data(), a.data(), b.data(), nullptr, 3);
  EXPECT_EQ(flags, (std::vector<uint8_t>{0, 1, 0}));
  std::vector<std::complex<float>> narrow(3);
  find_tile(expr_op::cast, dtype::complex128, tile_form::vectors,
            dtype::complex64)(narrow.data(), a.data(), nullptr, nullptr, 3);
  EXPECT_EQ(narrow[1], (std::complex<float>{-3, 0.5f}));
}

TEST(Tiles, ComputeWithBoolsAndChoose) {
  const std::vector<uint8_t> a{0, 0, 1, 1}, b{0, 1, 0, 1};
  const auto run = [&](expr_op op) {
    std::vector<uint8_t> out(4);
    find_tile(op, dtype::boolean)(out.data(), a.data(), b.data(), nullptr, 4);
    return out;
  };
  EXPECT_EQ(run(expr_op::logical_and), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(run(expr_op::logical_or), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(run(expr_op::logical_not), (std::vector<uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(run(expr_op::bit_xor), (std::vector<uint8_t>{0, 1, 1, 0}));
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    const std::vector<double> x{1, 2, 3, 4}, y{-1, -2, -3, -4};
    std::vector<double> chosen(4);
    find_tile(expr_op::where, dtype::float64)(chosen.data(), b.data(), x.data(), y.data(), 4);
    EXPECT_EQ(chosen, (std::vector<double>{-1, 2, -3, 4}));
  }
}

TEST(Tiles, ComputeWhatScalarArithmeticDoesInEveryVariant) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_arithmetic<int8_t>();
    check_arithmetic<int16_t>();
    check_arithmetic<int32_t>();
    check_arithmetic<int64_t>();
    check_arithmetic<uint8_t>();
    check_arithmetic<uint16_t>();
    check_arithmetic<uint32_t>();
    check_arithmetic<uint64_t>();
    check_arithmetic<float16>();
    check_arithmetic<bfloat16>();
    check_arithmetic<float>();
    check_arithmetic<double>();
  }
}

TEST(Tiles, WorkInPlace) {
  constexpr size_t n = 333;
  const auto a = samples<float>(3, n), b = samples<float>(4, n);
  const auto fn = find_tile(expr_op::subtract, dtype::float32);
  std::vector<float> out(n), left = a, right = b;
  fn(out.data(), a.data(), b.data(), nullptr, n);
  fn(left.data(), left.data(), b.data(), nullptr, n);
  fn(right.data(), a.data(), right.data(), nullptr, n);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(same(left[i], out[i]));
    ASSERT_TRUE(same(right[i], out[i]));
  }
}

template <class T>
void check_comparisons() {
  constexpr size_t n = 517;
  auto a = samples<T>(5, n);
  const auto b = samples<T>(6, n);
  for (size_t i = 0; i < n; i += 3) a[i] = b[i];
  const auto less = [](T x, T y) { return static_cast<double>(x) < static_cast<double>(y); };
  const auto check = [&](expr_op op, auto&& wanted) {
    const auto fn = find_tile(op, dtype_of<T>);
    if (fn == nullptr)
      return;
    std::vector<uint8_t> out(n);
    fn(out.data(), a.data(), b.data(), nullptr, n);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i], static_cast<uint8_t>(wanted(a[i], b[i])))
        << to_string(dtype_of<T>) << " " << static_cast<int>(op) << " at " << i;
  };
  const auto equal = [](T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return x == y;
    else
      return static_cast<double>(x) == static_cast<double>(y);
  };
  check(expr_op::equal, equal);
  check(expr_op::not_equal, [&](T x, T y) { return !equal(x, y); });
  if constexpr (sizeof(T) < 8 || std::is_floating_point_v<T>) {
    check(expr_op::less, less);
    check(expr_op::greater, [&](T x, T y) { return less(y, x); });
    check(expr_op::less_equal, [&](T x, T y) { return less(x, y) || equal(x, y); });
    check(expr_op::greater_equal, [&](T x, T y) { return less(y, x) || equal(x, y); });
  } else {
    check(expr_op::less, std::less<T>{});
    check(expr_op::greater_equal, std::greater_equal<T>{});
  }
  if constexpr (is_floating(dtype_of<T>))
    check(expr_op::is_nan, [](T x, T) { return std::isnan(static_cast<double>(x)); });
}

TEST(Tiles, CompareInEveryVariant) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_comparisons<int8_t>();
    check_comparisons<int16_t>();
    check_comparisons<int32_t>();
    check_comparisons<int64_t>();
    check_comparisons<uint8_t>();
    check_comparisons<uint16_t>();
    check_comparisons<uint32_t>();
    check_comparisons<uint64_t>();
    check_comparisons<float16>();
    check_comparisons<bfloat16>();
    check_comparisons<float>();
    check_comparisons<double>();
  }
}

} // namespace
} // namespace headrace::detail::kernels
