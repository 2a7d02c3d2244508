#include "tests/pipeline/functions/support.hpp"

namespace headrace::detail {
namespace {

using namespace test;

/// `row: message` of each error.
std::vector<std::string> errors_of(const block& b) {
  std::vector<std::string> out;
  for (const auto& e : b.errors) out.push_back(std::to_string(e.row) + ": " + e.why.message());
  return out;
}
using list = std::vector<std::string>;

TEST(RowErrors, DivisionByZeroFailsItsRowOnly) {
  auto out =
    apply({scalars<int32_t>({1, 0, -7, 0}), scalars<int32_t>({3, 1, 0, 5})}, [](expr x, expr y) {
      return std::tuple{100 / x, y % x, floor_div(y, y)};
    });
  EXPECT_EQ(errors_of(out),
            (list{"1: divide: integer division by zero", "2: floor_div: integer division by zero",
                  "3: divide: integer division by zero"}));
  EXPECT_EQ(out.columns[0].values<int32_t>()[0], 100);
}

TEST(RowErrors, OneBadValueInATensorFailsTheRowOnce) {
  auto out = apply({tensors<int64_t>({1, 2, 0, 0, 5, 6}, {2})}, [](expr x) { return 10 / x; });
  EXPECT_EQ(errors_of(out), (list{"1: divide: integer division by zero"}));
}

TEST(RowErrors, CastsThatDoNotFit) {
  auto out = apply({scalars<double>({1.9, 256, -0.5, -1, NAN, 255.9})},
                   [](expr x) { return cast<uint8_t>(x); });
  EXPECT_EQ(errors_of(out),
            (list{"1: cast: 256 does not fit uint8", "3: cast: -1 does not fit uint8",
                  "4: cast: nan does not fit uint8"}));
  EXPECT_EQ(out.columns[0].values<uint8_t>()[0], 1);
  EXPECT_EQ(out.columns[0].values<uint8_t>()[2], 0);
  EXPECT_EQ(out.columns[0].values<uint8_t>()[5], 255);
  const int64_t most = std::numeric_limits<int64_t>::max();
  out = apply({scalars<float>({9.2e18f, 9.3e18f, -9.223372036854775808e18f})},
              [](expr x) { return cast<int64_t>(x); });
  EXPECT_EQ(errors_of(out).size(), 1u);
  EXPECT_EQ(out.errors[0].row, 1u);
  EXPECT_EQ(out.columns[0].values<int64_t>()[2], -most - 1);
  out = apply({scalars<int64_t>({most, 5})}, [](expr x) { return cast<int32_t>(x); });
  EXPECT_EQ(out.errors.size(), 1u);
}

TEST(RowErrors, ABranchThatARowDoesNotChooseCannotFailIt) {
  auto out = apply({scalars<int64_t>({5, 0, -2})}, [](expr x) {
    return std::tuple{where(x != 0, 10 / x, -1), where(x > 0, cast<uint8_t>(x), 0)};
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{2, -1, -5}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[1]), (std::vector<uint8_t>{5, 0, 0}));
  // The failing value is nested in two branches.
  out = apply({texts({"7", "seven", "", "9"})}, [](expr s) {
    auto n = strings::to_number<int64_t>(s) * 2 + 1;
    return where(s == "seven", 7, where(s == "", 0, n - 1));
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{14, 7, 0, 18}));
}

TEST(RowErrors, ABranchThatIsChosenFails) {
  auto out = apply({scalars<int64_t>({5, 0})}, [](expr x) { return where(x >= 0, 10 / x, -1); });
  EXPECT_EQ(errors_of(out), (list{"1: divide: integer division by zero"}));
  // A condition that is a tensor may choose both branches.
  out = apply({tensors<int64_t>({1, 2, 0, 2, 0, 0}, {2})},
              [](expr x) { return where(x != 0, 10 / x, 0); });
  EXPECT_EQ(errors_of(out), (list{"1: divide: integer division by zero"}));
}

TEST(RowErrors, WhereOverRowsOfUnknownShapes) {
  auto out = apply({texts({"1 2", "x", "3"})}, [](expr s) {
    auto numbers = strings::to_number<int64_t>(strings::split(s));
    return where(s == "x", constant(std::vector<int64_t>{0, 0, 0}), numbers);
  });
  // In row 0 the shapes [2] and [3] do not broadcast. In row 1 the branch that is not chosen
  // failed, which is no error of the row.
  EXPECT_EQ(errors_of(out), (list{"0: where: shapes [3] and [2] do not broadcast; extents must be "
                                  "equal or 1"}));
  EXPECT_EQ(print_row(out.columns[0], 1).substr(0, 9), "int64[3]:");
}

TEST(RowErrors, IndicesOutOfRange) {
  auto out = apply({vectors<int32_t>({{1, 2, 3}, {4}, {5, 6}})}, [](expr x) {
    return std::tuple{x[0], x[1]};
  });
  EXPECT_EQ(errors_of(out), (list{"1: index: index 1 is outside of axis 0 of shape [1]"}));
  out = apply({scalars<int64_t>({0, 2, -1, 3})}, [](expr i) {
    return constant(std::vector<float>{5, 6, 7})[i];
  });
  EXPECT_EQ(errors_of(out),
            (list{"2: gather: index -1 is not in [0, 3)", "3: gather: index 3 is not in [0, 3)"}));
  EXPECT_EQ(out.columns[0].values<float>()[1], 7);
}

TEST(RowErrors, TheFirstErrorOfARowStays) {
  auto out = apply({scalars<int64_t>({0})}, [](expr x) {
    return std::tuple{cast<uint8_t>(x - 1), 1 / x};
  });
  EXPECT_EQ(errors_of(out), (list{"0: cast: -1 does not fit uint8"}));
}

TEST(RowErrors, AConstantThatFailsFailsEveryRow) {
  auto out = apply({scalars<int64_t>({1, 2})},
                   [](expr x) { return x + constant(int64_t{1}) / constant(int64_t{0}); });
  EXPECT_EQ(errors_of(out),
            (list{"0: divide: integer division by zero", "1: divide: integer division by zero"}));
}

TEST(RowErrors, ReductionsOfNothing) {
  auto out = apply({vectors<float>({{1, 3, 2}, {}})}, [](expr x) {
    return std::tuple{reduce_sum(x), reduce_max(x), reduce_prod(x)};
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(out.columns[0].values<float>()[1], 0);
  EXPECT_EQ(out.columns[1].values<float>()[1], -INFINITY);
  EXPECT_EQ(out.columns[2].values<float>()[1], 1);
  out = apply({vectors<float>({{1, 3, 2}, {}})}, [](expr x) { return argmax(x); });
  EXPECT_EQ(errors_of(out), (list{"1: argmax: axis 0 of [0] is empty"}));
  EXPECT_EQ(out.columns[0].values<int64_t>()[0], 1);
}

TEST(RowErrors, IntegerPowers) {
  auto out = apply({scalars<int32_t>({2, 2, -3})}, [](expr x) {
    return std::tuple{pow(x, 10), pow(constant(int32_t{2}), x)};
  });
  EXPECT_EQ(errors_of(out),
            (list{"2: pow: an integer to a negative power; cast to a float first"}));
  EXPECT_EQ(out.columns[0].values<int32_t>()[0], 1024);
  EXPECT_EQ(out.columns[1].values<int32_t>()[1], 4);
}

} // namespace
} // namespace headrace::detail
