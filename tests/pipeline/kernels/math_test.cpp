#include "headrace/pipeline/kernels/reduce.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::targets_here;

/// Special arguments, and random ones of both signs from 2^-25 to 2^26.
template <class T>
std::vector<T> arguments() {
  std::mt19937_64 random{11};
  std::vector<T> out{T(0),
                     T(-0.0),
                     T(1),
                     T(-1),
                     T(0.5),
                     T(INFINITY),
                     T(-INFINITY),
                     T(NAN),
                     T(1e-45),
                     T(1e-300),
                     T(88.7),
                     T(88.73),
                     T(-103.9),
                     T(709.7),
                     T(710),
                     T(-745),
                     T(3.14159265358979),
                     T(1e22),
                     T(1e30),
                     T(-1e15),
                     T(0.625)};
  for (int i = 0; i < 20000; ++i) {
    const double spread = i % 2 == 0 ? 4 : 25;
    const double e = spread * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    const double x = std::exp2(e) * (1 + static_cast<double>(random() >> 11) * 0x1p-53);
    out.push_back(static_cast<T>(random() % 2 != 0 ? x : -x));
  }
  return out;
}

/// The distance of `got` from the exact value, in units in the last place of the exact value.
template <class T>
double distance(T got, long double exact) {
  const T wanted = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(wanted))
    return std::isnan(got) && std::isnan(wanted) ? 0 : INFINITY;
  if (std::isinf(wanted) || std::isinf(got))
    return got == wanted ? 0 : INFINITY;
  const T unit = std::max(std::nextafter(std::abs(wanted), T(INFINITY)) - std::abs(wanted),
                          std::numeric_limits<T>::denorm_min());
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

template <class T>
void check(expr_op op, long double (*exact)(long double), double bound) {
  const auto x = arguments<T>();
  std::vector<T> out(x.size());
  find_tile(op, dtype_of<T>)(out.data(), x.data(), nullptr, nullptr, x.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(distance(out[i], exact(x[i])), bound)
      << static_cast<int>(op) << " of " << x[i] << " gives " << out[i];
}

TEST(Math, FunctionsAreWithinAFewUnitsInTheLastPlace) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    check<float>(
      expr_op::exp, [](long double x) { return std::exp(x); }, 2);
    check<double>(
      expr_op::exp, [](long double x) { return std::exp(x); }, 2);
    check<float>(
      expr_op::log, [](long double x) { return std::log(x); }, 2);
    check<double>(
      expr_op::log, [](long double x) { return std::log(x); }, 2);
    check<float>(
      expr_op::tanh, [](long double x) { return std::tanh(x); }, 3);
    check<double>(
      expr_op::tanh, [](long double x) { return std::tanh(x); }, 3);
    check<float>(
      expr_op::sin, [](long double x) { return std::sin(x); }, 1);
    check<double>(
      expr_op::sin, [](long double x) { return std::sin(x); }, 1);
    check<float>(
      expr_op::cos, [](long double x) { return std::cos(x); }, 1);
    check<double>(
      expr_op::cos, [](long double x) { return std::cos(x); }, 1);
  }
}

template <class T>
void check_power(double bound) {
  std::vector<T> x, y;
  const T special[] = {T(0),  T(-0.0),     T(1),         T(-1),  T(2),    T(-2),    T(0.5),  T(3),
                       T(-3), T(INFINITY), T(-INFINITY), T(NAN), T(1e10), T(-1e10), T(1e-10)};
  for (auto a : special)
    for (auto b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  std::mt19937_64 random{12};
  for (int i = 0; i < 5000; ++i) {
    x.push_back(static_cast<T>(std::exp2(static_cast<double>(random() % 2000) * 0.01 - 10)));
    y.push_back(static_cast<T>(static_cast<double>(random() % 4000) * 0.01 - 20));
  }
  std::vector<T> out(x.size());
  find_tile(expr_op::power, dtype_of<T>)(out.data(), x.data(), y.data(), nullptr, x.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(distance(out[i], std::pow(static_cast<long double>(x[i]), y[i])), bound)
      << x[i] << " to the power " << y[i] << " gives " << out[i];
}

TEST(Math, PowersFollowTheStandardInSpecialCasesToo) {
  check_power<float>(1);
  check_power<double>(3);
}

template <class T>
void check_usual_exponents() {
  std::mt19937_64 random{13};
  std::vector<T> x, y;
  for (const auto exponent : {1.0, 2.0, -1.0, 0.5})
    for (int i = 0; i < 1000; ++i) {
      x.push_back(static_cast<T>(std::exp2(static_cast<double>(random() % 2000) * 0.01 - 10)));
      y.push_back(static_cast<T>(exponent));
    }
  std::vector<T> out(x.size());
  find_tile(expr_op::power, dtype_of<T>)(out.data(), x.data(), y.data(), nullptr, x.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(out[i], static_cast<T>(std::pow(static_cast<long double>(x[i]), y[i])))
      << x[i] << " to the power " << y[i];
}

TEST(Math, PowersOfTheUsualExponentsAreRoundedCorrectly) {
  check_usual_exponents<float>();
  check_usual_exponents<double>();
}

template <class T>
void check_equal_bits() {
  const auto x = arguments<T>();
  std::vector<T> first;
  for (const auto op :
       {expr_op::exp, expr_op::log, expr_op::tanh, expr_op::sin, expr_op::cos, expr_op::power}) {
    first.clear();
    for (const auto target : targets_here()) {
      chosen_target choice{target};
      // Two calls that divide the values at `skip` change which values are computed by vector code
      // and which by the code for the remaining values.
      for (size_t skip : {0, 1, 5}) {
        std::vector<T> out(x.size());
        const auto fn = find_tile(op, dtype_of<T>);
        fn(out.data(), x.data(), x.data(), nullptr, skip);
        fn(out.data() + skip, x.data() + skip, x.data() + skip, nullptr, x.size() - skip);
        if (first.empty())
          first = out;
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_TRUE((first[i] == out[i] && std::signbit(first[i]) == std::signbit(out[i]))
                      || (std::isnan(first[i]) && std::isnan(out[i])))
            << hwy::TargetName(target) << " " << static_cast<int>(op) << " of " << x[i];
      }
    }
  }
}

TEST(Math, EveryVariantGivesTheSameBits) {
  check_equal_bits<float>();
  check_equal_bits<double>();
}

// -- reductions ---------------------------------------------------------------

/// The sum of `x`, added one value at a time in the order that reduce.hpp promises.
template <class T>
T sum_in_lanes(const std::vector<T>& x) {
  std::vector<T> partial(16, T(0));
  for (size_t i = 0; i < x.size(); ++i) partial[i % 16] += x[i];
  for (size_t half = 8; half != 0; half /= 2)
    for (size_t j = 0; j < half; ++j) partial[j] += partial[j + half];
  return partial[0];
}

TEST(Reductions, AddInTheOrderThatIsPromisedInEveryVariant) {
  std::mt19937_64 random{13};
  for (size_t n : {0, 1, 7, 15, 16, 17, 31, 64, 1000}) {
    std::vector<float> x;
    for (size_t i = 0; i < n; ++i)
      x.push_back(static_cast<float>(random() % 100000) * 1.37e-3f - 50.0f);
    const auto wanted = sum_in_lanes(x);
    for (const auto target : targets_here()) {
      chosen_target choice{target};
      float got = 0;
      find_reduction(expr_op::reduce_sum, dtype::float32)(&got, x.data(), 1, n, 1);
      EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(wanted)) << n;
    }
  }
}

TEST(Reductions, IntegersWrapAndExtremesKeepNaN) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    std::vector<int8_t> bytes(40, 100);
    int8_t sum = 0;
    find_reduction(expr_op::reduce_sum, dtype::int8)(&sum, bytes.data(), 1, bytes.size(), 1);
    EXPECT_EQ(sum, static_cast<int8_t>(4000));
    for (size_t at : {0, 3, 17, 39}) {
      std::vector<double> x(40, 1.0);
      x[at] = NAN;
      double got = 0;
      find_reduction(expr_op::reduce_max, dtype::float64)(&got, x.data(), 1, x.size(), 1);
      EXPECT_TRUE(std::isnan(got)) << at;
      find_reduction(expr_op::reduce_min, dtype::float64)(&got, x.data(), 1, x.size(), 1);
      EXPECT_TRUE(std::isnan(got)) << at;
    }
  }
}

} // namespace
} // namespace headrace::detail::kernels
