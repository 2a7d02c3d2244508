#include "headrace/pipeline/graph/split_rows.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;

constexpr split_rows single{.apart = true, .single = true, .in_order = true};
constexpr split_rows apart{.apart = true, .in_order = true};

dataset_ptr mapped(const dataset_ptr& input, bool deterministic = true) {
  return make_map(input, traced(input, [](expr x) { return x; }), 4, deterministic).value();
}
dataset_ptr flattened(const dataset_ptr& input) {
  return make_flat_map(input, traced(input, [](expr) { return range(0, 2); })).value();
}

TEST(SplitRows, OfNumbersAreSingleAndInOrder) {
  const auto numbers = range(0, 9);
  EXPECT_EQ(split_rows_of(*numbers), single);
  EXPECT_EQ(split_rows_of(*mapped(make_repeat(numbers, 2).value())), single);
  EXPECT_EQ(split_rows_of(*make_concatenate(numbers, range(0, 2)).value()), single);
}

TEST(SplitRows, OfASplitWithSeveralAreApartButNotSingle) {
  EXPECT_EQ(split_rows_of(*flattened(range(0, 9))), apart);
}

TEST(SplitRows, LoseTheirOrderInAShuffleAndWhereResultsComeAsTheyAreDone) {
  const auto numbers = range(0, 9);
  EXPECT_EQ(split_rows_of(*make_shuffle(numbers, 4).value()),
            (split_rows{.apart = true, .single = true}));
  EXPECT_EQ(split_rows_of(*mapped(numbers, false)), (split_rows{.apart = true, .single = true}));
}

TEST(SplitRows, AreMixedInABatchAndWhereAnOperatorCounts) {
  const auto numbers = range(0, 9);
  EXPECT_EQ(split_rows_of(*make_batch(numbers, 4, false).value()), (split_rows{.in_order = true}));
  EXPECT_EQ(split_rows_of(*make_take(numbers, 4).value()), (split_rows{.in_order = true}));
  EXPECT_EQ(split_rows_of(*make_cache(numbers).value()), (split_rows{.in_order = true}));
  EXPECT_EQ(split_rows_of(*make_batch(make_shuffle(numbers, 4).value(), 2, false).value()),
            split_rows{});
}

} // namespace
} // namespace headrace::detail
