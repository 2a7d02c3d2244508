#include "headrace/pipeline/kernels/tile.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::targets_here;

/// The parameters of a floating-point format of 16 bits, as IEEE 754 defines them.
struct format {
  int fraction; ///< number of bits of the fraction
  int least;    ///< exponent of the smallest normal number
  int most;     ///< exponent of the largest number
};
template <class T>
constexpr format format_of{};
template <>
constexpr format format_of<float16>{10, -14, 15};
template <>
constexpr format format_of<bfloat16>{7, -126, 127};

/// The value of a bit pattern.
template <class T>
double meaning(uint16_t bits) {
  constexpr auto f = format_of<T>;
  const int fraction = bits & ((1 << f.fraction) - 1);
  const int exponent = (bits & 0x7fff) >> f.fraction;
  double out = 0;
  if (exponent == f.most - f.least + 2)
    out = fraction == 0 ? double{INFINITY} : double{NAN};
  else if (exponent == 0)
    out = std::ldexp(fraction, f.least - f.fraction);
  else
    out = std::ldexp(fraction + (1 << f.fraction), f.least - f.fraction + exponent - 1);
  return (bits & 0x8000) != 0 ? -out : out;
}

/// The number of the format that is nearest to `x`. If two are equally near, it is the number whose
/// last bit is 0; infinity if `x` is rounded to more than the largest number.
template <class T>
double nearest(double x) {
  constexpr auto f = format_of<T>;
  if (std::isnan(x) || std::isinf(x) || x == 0)
    return x;
  const auto step = std::ldexp(1, std::max(std::ilogb(x), f.least) - f.fraction);
  const auto out = std::copysign(std::nearbyint(x / step) * step, x);
  return std::abs(out) < std::ldexp(1, f.most + 1) ? out : std::copysign(INFINITY, x);
}

bool same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class From, class To>
std::vector<To> cast(const std::vector<From>& from) {
  std::vector<To> out(from.size());
  find_tile(expr_op::cast, dtype_of<From>, tile_form::vectors,
            dtype_of<To>)(out.data(), from.data(), nullptr, nullptr, from.size());
  return out;
}

template <class T>
std::vector<T> all_patterns() {
  std::vector<T> out(1 << 16);
  for (size_t i = 0; i < out.size(); ++i) out[i].bits = static_cast<uint16_t>(i);
  return out;
}

/// Each number of the format and the midpoint between it and the next number, as floats, and the
/// two floats next to each of these.
template <class T>
std::vector<float> where_rounding_turns() {
  std::vector<float> out;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const auto here = meaning<T>(static_cast<uint16_t>(bits));
    auto next = meaning<T>(static_cast<uint16_t>(bits + 1));
    // After the largest finite number, the power of two above it is used in place of infinity:
    // values from the midpoint of these two on are rounded to infinity.
    if (std::isinf(next) && std::isfinite(here))
      next = std::copysign(std::ldexp(1, format_of<T>.most + 1), here);
    const auto half = static_cast<float>((here + next) / 2);
    for (const float x : {static_cast<float>(here), half})
      out.insert(out.end(), {x, std::nextafterf(x, INFINITY), std::nextafterf(x, -INFINITY)});
  }
  return out;
}

/// Floats with random bits. They can be normal, subnormal, infinite or NaN.
std::vector<float> random_floats(uint64_t seed, size_t n) {
  std::mt19937_64 random{seed};
  std::vector<float> out(n);
  for (auto& x : out) x = std::bit_cast<float>(static_cast<uint32_t>(random()));
  return out;
}

template <class T, class From>
void check_narrowing(const std::vector<From>& from) {
  const auto out = cast<From, T>(from);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto wanted = nearest<T>(static_cast<double>(from[i]));
    ASSERT_TRUE(same_number(meaning<T>(out[i].bits), wanted))
      << std::hexfloat << static_cast<double>(from[i]) << " became " << meaning<T>(out[i].bits)
      << ", not " << wanted;
  }
}

template <class T, class To>
void check_widening() {
  const auto from = all_patterns<T>();
  const auto out = cast<T, To>(from);
  for (size_t i = 0; i < from.size(); ++i)
    ASSERT_TRUE(same_number(static_cast<double>(out[i]), meaning<T>(from[i].bits)))
      << "bits " << std::hex << from[i].bits;
}

template <class T>
class SmallFloatCast : public ::testing::Test {};
using small_floats = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(SmallFloatCast, small_floats);

TYPED_TEST(SmallFloatCast, WidensEveryPatternOfBitsToWhatItMeans) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_widening<TypeParam, float>();
    check_widening<TypeParam, double>();
  }
}

TYPED_TEST(SmallFloatCast, GivesEveryPatternButNaNsBackFromFloats) {
  const auto from = all_patterns<TypeParam>();
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    const auto back = cast<float, TypeParam>(cast<TypeParam, float>(from));
    for (size_t i = 0; i < from.size(); ++i) {
      const auto x = meaning<TypeParam>(from[i].bits);
      if (std::isnan(x))
        ASSERT_TRUE(std::isnan(meaning<TypeParam>(back[i].bits))) << std::hex << from[i].bits;
      else
        ASSERT_EQ(back[i].bits, from[i].bits) << std::hex << from[i].bits;
    }
  }
}

TYPED_TEST(SmallFloatCast, NarrowsToTheNearestAndOfTwoToTheEvenOne) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  SCOPED_TRACE(seed);
  const auto chosen = where_rounding_turns<TypeParam>();
  const auto any = random_floats(seed, 300'000);
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_narrowing<TypeParam>(chosen);
    check_narrowing<TypeParam>(any);
  }
}

TYPED_TEST(SmallFloatCast, NarrowsDoublesByWayOfFloats) {
  std::vector<double> from;
  for (const auto x : where_rounding_turns<TypeParam>()) from.push_back(static_cast<double>(x));
  // A double is first rounded to the nearest float. So the double that follows the midpoint is
  // rounded like the midpoint itself.
  const auto half_way = 1 + std::ldexp(1, -format_of<TypeParam>.fraction - 1);
  const std::vector<double> beside{half_way, std::nextafter(half_way, 2)};
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_narrowing<TypeParam>(from);
    for (const auto x : cast<double, TypeParam>(beside)) EXPECT_EQ(meaning<TypeParam>(x.bits), 1);
  }
}

TYPED_TEST(SmallFloatCast, KeepsZeroesSignsAndWhatHasNoNumber) {
  const auto inf = std::numeric_limits<float>::infinity();
  const auto largest = static_cast<float>(
    std::ldexp(2 - std::ldexp(1, -format_of<TypeParam>.fraction), format_of<TypeParam>.most));
  const auto smallest =
    static_cast<float>(std::ldexp(1, format_of<TypeParam>.least - format_of<TypeParam>.fraction));
  const std::vector<float> from{0.0f,
                                -0.0f,
                                inf,
                                -inf,
                                NAN,
                                largest,
                                -largest,
                                std::nextafterf(largest, inf),
                                smallest,
                                -smallest,
                                smallest / 2,
                                -smallest / 2,
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min()};
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    const auto out = cast<TypeParam, float>(cast<float, TypeParam>(from));
    const std::vector<float> wanted{0.0f,    -0.0f,    inf,       -inf, NAN,   largest, -largest,
                                    largest, smallest, -smallest, 0.0f, -0.0f, inf,     0.0f};
    for (size_t i = 0; i < from.size(); ++i)
      EXPECT_TRUE(same_number(static_cast<double>(out[i]), static_cast<double>(wanted[i])))
        << from[i] << " became " << out[i];
  }
}

template <class From, class To>
void check_between() {
  const auto from = all_patterns<From>();
  const auto out = cast<From, To>(from);
  for (size_t i = 0; i < from.size(); ++i)
    ASSERT_TRUE(same_number(meaning<To>(out[i].bits), nearest<To>(meaning<From>(from[i].bits))))
      << "bits " << std::hex << from[i].bits;
}

TEST(SmallFloatCasts, BetweenTheTwoRoundEveryPatternOnce) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    SCOPED_TRACE(hwy::TargetName(target));
    check_between<float16, bfloat16>();
    check_between<bfloat16, float16>();
  }
}

} // namespace
} // namespace headrace::detail::kernels
