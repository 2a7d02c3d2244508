#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

/// Vectors of 3, 2, 3, 2 ... elements: 0 1 2, 100 101, 3 4 5, 102 103 ...
dataset_ptr ragged_rows(int64_t elements) {
  auto threes = make_batch(range(0, elements), 3).value();
  auto twos = make_batch(range(100, 100 + elements), 2).value();
  auto choices = make_map(range(0, elements), traced(range(0, 1), [](expr x) { return x % 2; }));
  return make_choose_from(choices.value(), {threes, twos}).value();
}

TEST(Unbatch, UndoesBatch) {
  EXPECT_THAT(read(make_unbatch(make_batch(range(0, 5), 2).value()).value()),
              ElementsAre("0", "1", "2", "3", "4"));
  auto pairs = make_batch(make_enumerate(range(5, 8)).value(), 2).value();
  EXPECT_THAT(read(make_unbatch(pairs).value()), ElementsAre("0|5", "1|6", "2|7"));
  EXPECT_THAT(
    why(make_unbatch(range(0, 3))),
    HasSubstr("unbatch: component 0 is a scalar int64[]; it needs an axis to take apart"));
}

TEST(PaddedBatch, PadsToTheLargestOfTheBatch) {
  EXPECT_THAT(read(make_padded_batch(ragged_rows(7), 4).value()),
              ElementsAre("[4, 3]{0 1 2 100 101 0 3 4 5 102 103 0}", "[2, 2]{6 0 104 105}"));
}

TEST(PaddedBatch, PadsToAShapeWithAValue) {
  const int64_t minus = -1;
  auto x = make_padded_batch(ragged_rows(4), 3, {shape{4}},
                             {column::of_scalars(std::span<const int64_t>{&minus, 1})}, true)
             .value();
  EXPECT_EQ(to_string(x->spec), "int64[3, 4]");
  EXPECT_THAT(read(x), ElementsAre("[3, 4]{0 1 2 -1 100 101 -1 -1 3 -1 -1 -1}"));
}

TEST(PaddedBatch, PadsInnerAxesToo) {
  auto x = make_padded_batch(make_batch(make_batch(range(0, 6), 2).value(), 2).value(), 2,
                             {shape{shape::unknown, 3}})
             .value();
  EXPECT_THAT(read(x), ElementsAre("[2, 2, 3]{0 1 0 2 3 0 4 5 0 0 0 0}"));
}

TEST(PaddedBatch, PadsStringsAndScalars) {
  auto words =
    make_from_tensor_slices({string_constant(std::vector<std::string>{"a", "bc", "d"})}).value();
  EXPECT_THAT(read(make_padded_batch(words, 3).value()),
              ElementsAre(read_all(make_batch(words, 3).value())[0]));
  auto padded = make_padded_batch(make_batch(words, 2).value(), 2, {},
                                  {column::of_strings(std::vector<std::string_view>{"-"})})
                  .value();
  auto flat = make_unbatch(make_unbatch(padded).value()).value();
  EXPECT_THAT(read(flat),
              ElementsAre(HasSubstr("a"), HasSubstr("bc"), HasSubstr("d"), HasSubstr("-")));
}

TEST(PaddedBatch, FailsForAnElementThatIsTooLarge) {
  EXPECT_THAT(read(make_padded_batch(ragged_rows(4), 1, {shape{2}}).value()),
              ElementsAre("!data_loss: padded_batch: component 0 has a row of shape [3], "
                          "which is larger than the padded shape [2]",
                          "[1, 2]{100 101}", "[1, 2]{3 0}", "[1, 2]{102 103}"));
}

TEST(PaddedBatch, RefusesShapesAndValuesThatDoNotFit) {
  EXPECT_EQ(why(make_padded_batch(range(0, 3), 0)),
            "padded_batch: batch_size is 0; it must be at least 1");
  EXPECT_EQ(why(make_padded_batch(range(0, 3), 2, {shape{4}})),
            "padded_batch: component 0 is of shape [], but its padded shape is [4]; the ranks must "
            "be equal");
  EXPECT_EQ(why(make_padded_batch(range(0, 3), 2, {},
                                  {column::of_strings(std::vector<std::string_view>{"-"})})),
            "padded_batch: the padding value of component 0 is of string[]; it must be a scalar of "
            "int64");
}

const tensor_spec number{dtype::int64, {}};

template <class F>
function_ptr scanned(F f) {
  return std::make_shared<const function>(trace(element_spec::tuple({number, number}), f));
}

TEST(Scan, CarriesItsStateFromElementToElement) {
  auto f = scanned([](expr sum, expr x) { return std::pair{sum + x, sum * 10}; });
  auto x = make_scan(range(1, 5), {scalar_constant(2)}, f).value();
  EXPECT_EQ(x->cardinality, 4);
  EXPECT_THAT(read(x), ElementsAre("20", "30", "50", "80"));
}

TEST(Scan, LeavesTheStateAloneWhereAnElementFails) {
  auto f = scanned([](expr sum, expr x) { return std::pair{sum + x, sum + 12 / (x % 3)}; });
  EXPECT_THAT(read(make_scan(range(1, 6), {scalar_constant(0)}, f).value()),
              ElementsAre("12", "7", HasSubstr("division by zero"), "15", "13"));
}

TEST(Scan, RefusesAStateThatDoesNotFit) {
  auto f = scanned([](expr sum, expr x) { return std::pair{sum + x, sum}; });
  EXPECT_EQ(why(make_scan(range(0, 3), {}, f)),
            "scan: there are 0 tensors of initial state; the function takes int64[]");
  EXPECT_EQ(why(make_scan(range(0, 3), {string_constant(std::vector<std::string>{"a"})}, f)),
            "scan: the initial state is string[1]; the function takes int64[]");
  auto g = scanned([](expr sum, expr x) { return std::pair{sum == x, sum}; });
  EXPECT_EQ(
    why(make_scan(range(0, 3), {scalar_constant(0)}, g)),
    "scan: the function gives the new state bool[]; it must give int64[], as the initial state is: "
    "cast what it gives, or begin with another dtype");
}

} // namespace
} // namespace headrace::detail
