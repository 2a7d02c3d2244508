#include "headrace/actors/protocol/job_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

struct row {
  const char* name;
  job_parameters existing;
  job_parameters asked;
  std::vector<std::string>
    says; ///< the error message's parts on the job and the request; empty: they may share
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
        {.mode = dynamic, .targets = any, .num_consumers = 2, .cross_trainer_cache = cache_terms{}},
        {.mode = dynamic, .targets = any, .num_consumers = 2, .cross_trainer_cache = cache_terms{}},
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
        {.cross_trainer_cache = cache_terms{}},
        {},
        {"cross-trainer cache on; ", "cross-trainer cache off: "}},
    row{"CacheTerms",
        {.cross_trainer_cache = cache_terms{std::chrono::seconds{30}, 2}},
        {.cross_trainer_cache = cache_terms{}},
        {"cross-trainer cache on, on_lag wait 30 s, expected_trainers 2; ",
         "cross-trainer cache on: "}},
    row{"Several",
        {.mode = dynamic, .targets = any},
        {},
        {"processing mode dynamic, target workers any; ",
         "processing mode off, target workers auto: "}}),
  [](const auto& of) { return std::string{of.param.name}; });

struct cache_row {
  const char* name;
  job_parameters asked;
  cache_request about;
  const char* rule; ///< a part of the error message; empty: the parameters are possible
};

class CrossTrainerCacheRules : public testing::TestWithParam<cache_row> {};

TEST_P(CrossTrainerCacheRules, AreNamedWhereOneIsBroken) {
  const auto& [name, asked, about, rule] = GetParam();
  const auto how = can_cache(asked, about);
  EXPECT_EQ(how.ok(), std::string_view{rule}.empty());
  EXPECT_THAT(how.message(), HasSubstr(rule));
}

constexpr cache_request fitting{.named = true, .infinite = true};
const cache_terms waits{std::chrono::seconds{1}, 0}, for_two{std::chrono::seconds{1}, 2};

INSTANTIATE_TEST_SUITE_P(
  All, CrossTrainerCacheRules,
  testing::Values(
    cache_row{"NoCache", {.mode = dynamic}, {}, ""},
    cache_row{"Fits", {.cross_trainer_cache = cache_terms{}}, fitting, ""},
    cache_row{"Waits", {.cross_trainer_cache = waits}, fitting, ""},
    cache_row{"Anonymous", {.cross_trainer_cache = cache_terms{}}, {.infinite = true}, "job_name"},
    cache_row{
      "Finite", {.cross_trainer_cache = cache_terms{}}, {.named = true}, "infinite dataset"},
    cache_row{
      "FiniteForTwo", {.cross_trainer_cache = for_two}, {.named = true, .repetition = 3}, ""},
    cache_row{"ExpectsWithoutWaiting",
              {.cross_trainer_cache = cache_terms{{}, 2}},
              fitting,
              "on_lag \"wait\""},
    cache_row{"IteratedTwice",
              {.cross_trainer_cache = cache_terms{}},
              {.named = true, .infinite = true, .repetition = 1},
              "iterated once"},
    cache_row{"Coordinated",
              {.num_consumers = 2, .cross_trainer_cache = cache_terms{}},
              fitting,
              "coordinated reads"},
    cache_row{"Dynamic", {.mode = dynamic, .cross_trainer_cache = cache_terms{}}, fitting, ""},
    cache_row{"AtLeastOnce",
              {.mode = dynamic,
               .guarantee = delivery_guarantee::at_least_once,
               .cross_trainer_cache = cache_terms{}},
              fitting,
              "cannot be had with guarantee at_least_once"}),
  [](const auto& of) { return std::string{of.param.name}; });

TEST(NamesOfJobs, AreBounded) {
  EXPECT_TRUE(check_job_name(""));
  EXPECT_TRUE(check_job_name(std::string(1'024, 'x')));
  EXPECT_EQ(check_job_name(std::string(1'025, 'x')),
            invalid_argument("job_name has 1025 bytes; it may have up to 1024"));
}

TEST(SharingOfJobs, SaysNothingOfWhatIsTheSame) {
  EXPECT_THAT(may_share("train", {.mode = dynamic}, {}).message(), Not(HasSubstr("workers")));
}

} // namespace
} // namespace headrace::detail
