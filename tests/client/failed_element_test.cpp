#include "tests/client/support/outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

constexpr int64_t total = 1'000;

struct way {
  sharding_policy mode;
  int64_t outstanding; ///< the number of elements requested in advance; 0: only bytes are limited
};

class FailedElement : public testing::TestWithParam<way> {
protected:
  dataset through_the_service(const dataset& what) const {
    return what.apply(distribute{{.processing_mode = GetParam().mode,
                                  .service = cluster_.target(),
                                  .max_outstanding_requests = GetParam().outstanding}});
  }
  local_cluster cluster_{{.workers = 1}};
};

dataset failing_at(int64_t k) {
  return dataset::range(total).map(
    [k](expr x) { return floor_div(constant(int64_t{1'000}), x - constant(k)) * 0 + x; });
}

std::string number(const tensor_view& x) { return std::to_string(x.scalar<int64_t>()); }

TEST_P(FailedElement, ComesBetweenTheOneBeforeAndTheOneAfter) {
  for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{7}, int64_t{64}, int64_t{500},
                    total - 2, total - 1}) {
    SCOPED_TRACE(k);
    const auto got = outcomes(through_the_service(failing_at(k)), number);
    ASSERT_EQ(got.size(), static_cast<size_t>(total));
    for (int64_t i = 0; i < total; ++i)
      if (i == k)
        EXPECT_THAT(
          got[static_cast<size_t>(i)],
          testing::AllOf(testing::StartsWith("!invalid_argument"),
                         testing::HasSubstr("worker 127.0.0.1:"),
                         testing::HasSubstr(": map: floor_div: integer division by zero")));
      else
        ASSERT_EQ(got[static_cast<size_t>(i)], std::to_string(i));
  }
}

TEST_P(FailedElement, ReplacesTheBatchItWouldBePartOf) {
  const auto got = outcomes(through_the_service(failing_at(11).batch(4)), [](const tensor_view& x) {
    return std::to_string(x.as<int64_t>()[0]);
  });
  ASSERT_EQ(got.size(), static_cast<size_t>(total / 4));
  for (size_t i = 0; i < got.size(); ++i)
    if (i == 11 / 4)
      EXPECT_THAT(got[i], testing::StartsWith("!"));
    else
      ASSERT_EQ(got[i], std::to_string(4 * i));
}

TEST_P(FailedElement, TellsTheWorkerAndTheOperatorOfAMissingFile) {
  const auto got =
    outcomes(through_the_service(dataset::text_lines(std::vector<std::string>{"/nowhere/a.txt"})),
             [](const tensor_view& x) { return std::string{x.string()}; });
  ASSERT_EQ(got.size(), 1u);
  EXPECT_THAT(got[0], testing::MatchesRegex("!not_found: worker 127.0.0.1:[0-9]+: text_lines: "
                                            "cannot open '/nowhere/a.txt': .*"));
}

TEST_P(FailedElement, MayBeEveryOne) {
  const auto got = outcomes(
    through_the_service(dataset::range(total).map([](expr x) { return floor_div(x, x - x); })),
    number);
  ASSERT_EQ(got.size(), static_cast<size_t>(total));
  for (const auto& x : got) ASSERT_THAT(x, testing::StartsWith("!"));
}

TEST_P(FailedElement, PassesOperatorsThatRunInTheTrainer) {
  const auto got = outcomes(
    through_the_service(failing_at(40)).map([](expr x) { return x + 1; }).take(50), number);
  ASSERT_EQ(got.size(), 50u);
  for (size_t i = 0; i < got.size(); ++i)
    if (i == 40)
      EXPECT_THAT(got[i], testing::StartsWith("!"));
    else
      EXPECT_EQ(got[i], std::to_string(i + 1));
}

INSTANTIATE_TEST_SUITE_P(
  Ways, FailedElement,
  testing::Values(way{sharding_policy::off, 0}, way{sharding_policy::off, 1},
                  way{sharding_policy::off, 3}, way{sharding_policy::dynamic, 0},
                  way{sharding_policy::dynamic, 1}, way{sharding_policy::dynamic, 3}),
  [](const auto& of) {
    return std::string{of.param.mode == sharding_policy::off ? "Off" : "Dynamic"}
           + (of.param.outstanding == 0 ? "ByBytes" : "By" + std::to_string(of.param.outstanding));
  });

} // namespace
} // namespace headrace::detail::test
