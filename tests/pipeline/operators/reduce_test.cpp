#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Reduce, GivesTheLastState) {
  auto in = range(1, 5);
  auto sum = std::make_shared<const function>(
    trace(element_spec::tuple({in->spec, in->spec}), [](expr total, expr x) { return total + x; }));
  auto x = make_reduce(in, {scalar_constant(7)}, sum).value();
  EXPECT_EQ(x->cardinality, 1);
  EXPECT_THAT(read_all(x), ElementsAre("17"));
  EXPECT_THAT(read_all(make_reduce(range(0, 0), {scalar_constant(7)}, sum).value()),
              ElementsAre("7"));
  EXPECT_EQ(why(make_reduce(make_counter().value(), {scalar_constant(7)}, sum)),
            "reduce: the dataset never ends");
  auto windows = make_window(range(0, 7), 3, 3).value();
  auto sums = traced(
    windows, [&](dataset_ptr w) { return make_reduce(w, {scalar_constant(0)}, sum).value(); });
  EXPECT_THAT(read_all(make_flat_map(windows, sums).value()), ElementsAre("3", "12", "6"));
}

TEST(Reduce, FailsWithTheFirstElementThatFailed) {
  auto in = range(-2, 5);
  auto f = std::make_shared<const function>(trace(
    element_spec::tuple({in->spec, in->spec}), [](expr total, expr x) { return total + 6 / x; }));
  for (size_t n : {1, 1000})
    EXPECT_THAT(read_all(make_reduce(in, {scalar_constant(0)}, f).value(), test::always(n)),
                ElementsAre(HasSubstr("division by zero")));
}

TEST(SingleElement, IsTheOnlyOne) {
  EXPECT_THAT(read_all(make_single_element(range(4, 5)).value()), ElementsAre("4"));
  EXPECT_THAT(read_all(make_single_element(range(4, 4)).value()),
              ElementsAre("!invalid_argument: get_single_element: the dataset has no element"));
  EXPECT_THAT(
    read_all(make_single_element(range(4, 6)).value()),
    ElementsAre("!invalid_argument: get_single_element: the dataset has more than one element"));
}

} // namespace
} // namespace headrace::detail
