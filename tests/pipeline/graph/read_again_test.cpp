#include "headrace/pipeline/graph/read_again.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;
using testing::HasSubstr;

status at_least_once(const dataset_ptr& graph) {
  return can_promise(delivery_guarantee::at_least_once, sharding_policy::dynamic, *graph);
}
dataset_ptr read_from_service(const dataset_ptr& input, const std::string& job = {}) {
  return make_distribute(
           input,
           {.address = "host:1", .processing_mode = sharding_policy::dynamic, .job_name = job})
    .value();
}
/// A flat_map over three numbers whose function returns `each`.
dataset_ptr inner(const dataset_ptr& each) {
  auto numbers = range(0, 3);
  return make_flat_map(numbers, traced(numbers, [&](expr) { return each; })).value();
}

TEST(ReadAgain, IsPromisedUnderDynamicOnly) {
  EXPECT_EQ(can_promise(delivery_guarantee::at_least_once, sharding_policy::dynamic), status{});
  EXPECT_EQ(can_promise(delivery_guarantee::at_most_once, sharding_policy::off), status{});
  const auto why = can_promise(delivery_guarantee::at_least_once, sharding_policy::off);
  EXPECT_EQ(why.code(), status_code::invalid_argument);
  EXPECT_THAT(why.message(), HasSubstr("dynamic"));
}

TEST(ReadAgain, IsPromisedOverWhatMakesItsRowsOfItsSplits) {
  auto shuffled = make_shuffle(make_repeat(range(0, 9), 3).value(), 4).value();
  EXPECT_EQ(at_least_once(make_batch(shuffled, 2).value()), status{});
  EXPECT_EQ(at_least_once(inner(range(0, 2))), status{});
}

TEST(ReadAgain, IsNotPromisedOverWhatARunKeepsForItself) {
  const auto kept = make_cache(range(0, 9)).value();
  EXPECT_EQ(at_least_once(kept), status{}) << "it is read once";
  for (const auto& graph : {make_repeat(kept, 2).value(), make_repeat(kept, -1).value()}) {
    const auto why = at_least_once(graph);
    EXPECT_EQ(why.code(), status_code::failed_precondition);
    EXPECT_THAT(why.message(), HasSubstr("cache"));
  }
  EXPECT_EQ(at_least_once(make_cache(make_repeat(range(0, 9), 2).value()).value()), status{});
}

TEST(ReadAgain, IsNotPromisedOverWhatAnotherJobGives) {
  EXPECT_THAT(at_least_once(read_from_service(range(0, 9))).message(), HasSubstr("distribute"));
  EXPECT_THAT(at_least_once(inner(read_from_service(range(0, 9), "job"))).message(),
              HasSubstr("distribute"));
  EXPECT_EQ(at_least_once(inner(read_from_service(range(0, 9)))), status{})
    << "the function reads a job of its own anew";
}

} // namespace
} // namespace headrace::detail
