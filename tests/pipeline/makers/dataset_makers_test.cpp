#include "headrace/pipeline/makers/dataset_makers.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;

template <class T>
std::string why(const result<T>& x) {
  EXPECT_FALSE(x.ok());
  return to_string(x.status());
}

TEST(Build, NamesOperatorArgumentAndWhatWouldBeRight) {
  auto numbers = range(0, 10);
  EXPECT_EQ(why(make_batch(numbers, 0)),
            "invalid_argument: batch: batch_size is 0; it must be at least 1");
  EXPECT_EQ(why(make_batch(numbers, -3)),
            "invalid_argument: batch: batch_size is -3; it must be at least 1");
  EXPECT_EQ(why(make_shuffle(numbers, 0)),
            "invalid_argument: shuffle: buffer_size is 0; it must be at least 1");
  EXPECT_EQ(why(make_range(0, 1, 0)),
            "invalid_argument: range: step is 0; it must be another number");
  EXPECT_EQ(why(make_tfrecord(scalar_constant(3))),
            "invalid_argument: tfrecord: files is int64[]; it must be a string or a vector of "
            "strings");
  EXPECT_EQ(why(make_zip({})), "invalid_argument: zip: there are no inputs; give at least one");
  EXPECT_EQ(why(make_from_tensor_slices({scalar_constant(3)})),
            "invalid_argument: from_tensor_slices: tensor 0 is a scalar int64[]; it needs an axis "
            "to slice along");
  EXPECT_EQ(why(make_concatenate(numbers, make_enumerate(numbers).value())),
            "invalid_argument: concatenate: the second dataset gives (int64[], int64[]); it must "
            "give int64[] as the first does");
}

TEST(Build, ChecksWhatFunctionsTakeAndGive) {
  auto numbers = range(0, 10);
  EXPECT_EQ(why(make_filter(numbers, traced(numbers, [](expr x) { return x; }))),
            "invalid_argument: filter: the function gives int64[]; it must give one bool scalar");
  auto pairs = make_enumerate(numbers).value();
  EXPECT_EQ(why(make_map(pairs, traced(numbers, [](expr x) { return x; }))),
            "invalid_argument: map: the function takes int64[], but the input gives (int64[], "
            "int64[])");
  EXPECT_EQ(why(make_flat_map(numbers, traced(numbers, [](expr x) { return x; }))),
            "invalid_argument: flat_map: the function gives int64[]; it must give a dataset");
  auto inner = [](expr) { return range(0, 3); };
  EXPECT_EQ(why(make_map(numbers, traced(numbers, inner))),
            "invalid_argument: map: the function gives a dataset of int64[]; it must give tensors "
            "(see flat_map and interleave)");
  EXPECT_EQ(why(make_interleave(numbers, traced(numbers, inner), 0)),
            "invalid_argument: interleave: cycle_length is 0; it must be at least 1");
  EXPECT_EQ(why(make_interleave(numbers, traced(numbers, inner), 2, 0)),
            "invalid_argument: interleave: block_length is 0; it must be at least 1");
}

TEST(Build, InfersSpecsAndCardinality) {
  auto x = make_batch(range(0, 10), 4).value();
  EXPECT_EQ(to_string(x->spec), "int64[?]");
  EXPECT_EQ(x->cardinality, 3);
  x = make_batch(range(0, 10), 4, true).value();
  EXPECT_EQ(to_string(x->spec), "int64[4]");
  EXPECT_EQ(x->cardinality, 2);
  EXPECT_EQ(make_repeat(x)->get()->cardinality, infinite_cardinality);
  EXPECT_EQ(make_repeat(range(0, 0))->get()->cardinality, 0);
  EXPECT_EQ(make_repeat(x, 5)->get()->cardinality, 10);
  EXPECT_EQ(make_skip(range(0, 10), 4)->get()->cardinality, 6);
  EXPECT_EQ(make_zip({range(0, 10), make_repeat(range(0, 3)).value()})->get()->cardinality, 10);
  EXPECT_EQ(make_text_lines(string_constant({}))->get()->cardinality, unknown_cardinality);
  auto wide = make_concatenate(make_batch(range(0, 4), 2, true).value(),
                               make_batch(range(0, 4), 4, true).value())
                .value();
  EXPECT_EQ(to_string(wide->spec), "int64[?]");
  EXPECT_EQ(wide->cardinality, 3);
}

TEST(Build, RefusesAServiceThatMakesNoSense) {
  service_options service;
  service.worker_timeout_ns = -1;
  EXPECT_EQ(why(make_distribute(range(0, 1), service)),
            "invalid_argument: distribute: worker_timeout is negative");
  service = {};
  service.stall_timeout_ns = 0;
  EXPECT_EQ(why(make_distribute(range(0, 1), service)),
            "invalid_argument: distribute: stall_timeout is 0 ns; it must be more than 0");
}

} // namespace
} // namespace headrace::detail
