#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"

#include <complex>

namespace headrace::detail {
namespace {

using namespace test;

template <class T>
void expect_parts() {
  using number = std::complex<T>;
  const auto parts = [](expr x) {
    return std::tuple{math::real(x), math::imag(x), abs(x), abs(x[0])};
  };
  const auto out =
    apply_everywhere({tensors<number>({{3, -4}, {0, 0}, {-5, 12}, {1, 0}}, {2})}, parts);
  EXPECT_EQ(values_of<T>(out.columns[0]), (std::vector<T>{3, 0, -5, 1}));
  EXPECT_EQ(values_of<T>(out.columns[1]), (std::vector<T>{-4, 0, 12, 0}));
  EXPECT_EQ(values_of<T>(out.columns[2]), (std::vector<T>{5, 0, 13, 1}));
  EXPECT_EQ(values_of<T>(out.columns[3]), (std::vector<T>{5, 13}));
  // Rows of different lengths.
  const auto some =
    apply_everywhere({vectors<number>({{{3, 4}}, {}, {{0, -1}, {2, 0}}})}, [](expr x) {
      return std::pair{abs(x), math::imag(x)};
    });
  EXPECT_EQ(values_of<T>(some.columns[0]), (std::vector<T>{5, 1, 2}));
  EXPECT_EQ(values_of<T>(some.columns[1]), (std::vector<T>{4, -1, 0}));
}

TEST(ComplexParts, AreFloatsOfHalfTheSize) {
  expect_parts<float>();
  expect_parts<double>();
}

TEST(ComplexParts, AHugeNumberIsNotInfinite) {
  const auto out = apply_everywhere({scalars(std::vector<std::complex<float>>{{3e38f, 1e38f}})},
                                    [](expr x) { return abs(x); });
  EXPECT_FLOAT_EQ(out.columns[0].values<float>()[0], std::hypot(3e38f, 1e38f));
}

TEST(ComplexParts, OtherNumbersAreTheirOwnRealPart) {
  const auto out =
    apply_everywhere({scalars(std::vector<int64_t>{-3})}, [](expr x) { return math::real(x); });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), std::vector<int64_t>{-3});
  EXPECT_THROW(math::imag(expr{1.5f}), error);
}

} // namespace
} // namespace headrace::detail
