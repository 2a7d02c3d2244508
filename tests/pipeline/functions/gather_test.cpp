#include "tests/pipeline/functions/everywhere.hpp"

namespace headrace::detail {
namespace {

using namespace test;
using int_list = std::vector<int64_t>;

TEST(GatherBatches, TakesFromEachBatchItsOwn) {
  auto out =
    apply_everywhere({tensors<int64_t>({10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42}, {2, 3}),
                      tensors<int32_t>({2, 0, 1, 1, 0, 2, 0, 0}, {2, 2})},
                     [](expr x, expr at) {
                       return std::tuple{gather(x, at, 1, 1), gather(x, at[0], 1, 0)};
                     });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (int_list{12, 10, 21, 21, 30, 32, 40, 40}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (int_list{12, 10, 22, 20, 30, 32, 40, 42}));
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[2, 2]");
}

TEST(GatherBatches, AnAxisBehindTheBatchesAndStrings) {
  // x[b][a][n] has the extents 2, 2 and 3. The digits of a value are its indices, counted from 1.
  int_list all;
  for (int64_t b = 1; b <= 2; ++b)
    for (int64_t a = 1; a <= 2; ++a)
      for (int64_t n = 1; n <= 3; ++n) all.push_back(100 * b + 10 * a + n);
  auto out = apply_everywhere(
    {tensors<int64_t>(all, {2, 2, 3}), tensors<uint8_t>({2, 0}, {2})}, [](expr x, expr at) {
      return std::tuple{gather(x, at, 2, 1), gather(strings::as_string(x), at, 2, 1)};
    });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (int_list{113, 123, 211, 221}));
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[2, 2]");
  EXPECT_EQ(texts_of(out.columns[1]), (std::vector<std::string>{"113", "123", "211", "221"}));
}

TEST(GatherBatches, ErrorsAreOfTheRow) {
  auto out = apply_everywhere(
    {tensors<int64_t>({1, 2, 3, 4, 5, 6}, {3, 1}), tensors<int64_t>({0, 0, 0, 0, 1, 0}, {3, 1})},
    [](expr x, expr at) { return gather(x, at, 1, 1); });
  EXPECT_EQ(errors_of(out), (std::vector<std::string>{"1: gather: index 1 is not in [0, 1)"}));
  const auto wrong = [](shape x, shape at, int64_t axis, int64_t batch_dims) {
    return thrown_by([&] {
      trace(element_spec::tuple({tensor_spec{dtype::int64, x}, tensor_spec{dtype::int64, at}}),
            [&](expr a, expr b) { return gather(a, b, axis, batch_dims); });
    });
  };
  EXPECT_EQ(wrong({2, 3}, {3, 1}, 1, 1),
            "gather: shapes [2, 3] and [3, 1] differ in the first 1 extents, which both must have");
  EXPECT_EQ(wrong({2, 3}, {2}, 1, 2), "gather: batch_dims is 2; the indices have shape [2]");
  EXPECT_EQ(wrong({2, 3}, {2}, 0, 1),
            "gather: axis 0 of [2, 3]; it must be between batch_dims (1) and the last");
}

} // namespace
} // namespace headrace::detail
