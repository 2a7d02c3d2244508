#include "headrace/actors/protocol/job_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace {
namespace {

using testing::HasSubstr;
using testing::Not;

struct row {
  const char* name;
  job_parameters existing;
  job_parameters asked;
  std::vector<std::string>
    says; ///< what the job has, and what was asked for; none: it may be shared
};

class SharingOfJobs : public testing::TestWithParam<row> {};

TEST_P(SharingOfJobs, NamesEachParameterThatDiffers) {
  const auto& [name, existing, asked, says] = GetParam();
  const auto how = may_share("train", existing, asked);
  if (says.empty()) {
    EXPECT_TRUE(how.ok()) << to_string(how);
    return;
  }
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(), HasSubstr("job 'train' exists with " + says[0]));
  EXPECT_THAT(how.message(), HasSubstr("this client asks for " + says[1]));
}

constexpr auto dynamic = sharding_policy::dynamic;
constexpr auto any = target_workers::any;

INSTANTIATE_TEST_SUITE_P(
  All, SharingOfJobs,
  testing::Values(
    row{"Equal",
        {.mode = dynamic, .targets = any, .num_consumers = 2, .cross_trainer_cache = true},
        {.mode = dynamic, .targets = any, .num_consumers = 2, .cross_trainer_cache = true},
        {}},
    row{"Mode", {.mode = dynamic}, {}, {"processing mode dynamic; ", "processing mode off: "}},
    row{"Targets", {}, {.targets = any}, {"target workers auto; ", "target workers any: "}},
    row{"Guarantee",
        {.guarantee = delivery_guarantee::at_least_once},
        {},
        {"guarantee at_least_once; ", "guarantee at_most_once: "}},
    row{"Consumers",
        {.num_consumers = 4},
        {.num_consumers = 3},
        {"number of consumers 4; ", "number of consumers 3: "}},
    row{"NoFixedConsumers",
        {},
        {.num_consumers = 3},
        {"number of consumers not fixed; ", "number of consumers 3: "}},
    row{"Cache",
        {.cross_trainer_cache = true},
        {},
        {"cross-trainer cache on; ", "cross-trainer cache off: "}},
    row{"Several",
        {.mode = dynamic, .targets = any},
        {},
        {"processing mode dynamic, target workers any; ",
         "processing mode off, target workers auto: "}}),
  [](const auto& of) { return std::string{of.param.name}; });

TEST(SharingOfJobs, SaysNothingOfWhatIsTheSame) {
  EXPECT_THAT(may_share("train", {.mode = dynamic}, {}).message(), Not(HasSubstr("workers")));
}

} // namespace
} // namespace headrace
