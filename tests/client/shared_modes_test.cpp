#include "headrace/client/headrace.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/taking.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::take;
using test::why;
using testing::HasSubstr;

/// Cross-trainer caches and coordinated reads under policies that divide one dataset among the
/// workers.
class SharedModes : public testing::TestWithParam<sharding_policy> {
protected:
  dataset cached(const dataset& what, trainer_cache cache) const {
    return what.apply(distribute{{.processing_mode = GetParam(),
                                  .service = cluster.target(),
                                  .job_name = "train",
                                  .cross_trainer_cache = std::move(cache)}});
  }
  dataset in_rounds(const dataset& what, uint32_t index, uint32_t consumers) const {
    return what.apply(distribute{{.processing_mode = GetParam(),
                                  .service = cluster.target(),
                                  .job_name = "train",
                                  .coordinated_reads = coordinated_reads{
                                    .consumer_index = index, .num_consumers = consumers}}});
  }

  local_cluster cluster{{.workers = 2, .worker_addresses = {"localhost", "localhost"}}};
};

TEST_P(SharedModes, GiveEachTrainerOfACacheTheWholeOfOnePassOnce) {
  constexpr int64_t size = 20'000;
  std::vector<std::vector<int64_t>> read(3);
  {
    std::vector<std::jthread> trainers;
    for (size_t i = 0; i < read.size(); ++i)
      trainers.emplace_back([&, i] {
        const auto ds =
          cached(dataset::range(size), {.trainer_id = std::to_string(i), .terms = {60s, 3}});
        for (const element& x : ds) read[i].push_back(x[0].scalar<int64_t>());
      });
  }
  std::vector<int64_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  for (auto& one : read) {
    std::ranges::sort(one);
    EXPECT_EQ(one, all);
  }
}

TEST_P(SharedModes, GiveEachElementToOneConsumerOfOneRound) {
  constexpr int64_t size = 100'000;
  constexpr size_t rounds = 500;
  auto a = in_rounds(dataset::range(size).repeat(), 0, 2).iterate();
  auto b = in_rounds(dataset::range(size).repeat(), 1, 2).iterate();
  std::set<int64_t> given;
  for (size_t i = 0; i < rounds; ++i) {
    given.merge(std::set<int64_t>{take(a, 1).front()});
    given.merge(std::set<int64_t>{take(b, 1).front()});
  }
  EXPECT_EQ(given.size(), 2 * rounds) << "within one pass no element comes twice";
}

INSTANTIATE_TEST_SUITE_P(Policies, SharedModes,
                         testing::Values(sharding_policy::dynamic, sharding_policy::data),
                         [](const auto& of) { return std::string{to_string(of.param)}; });

TEST(SharedModesRules, RefuseToReadAgainWhatNobodyKnowsWhoHas) {
  const auto with = [](auto change) {
    distribute_options options{.processing_mode = sharding_policy::dynamic,
                               .service = "localhost:1",
                               .job_name = "train",
                               .guarantee = delivery_guarantee::at_least_once};
    change(options);
    return why([&] { static_cast<void>(dataset::counter().apply(distribute{options})); });
  };
  EXPECT_THAT(with([](auto& x) { x.cross_trainer_cache = trainer_cache{.trainer_id = "a"}; }),
              HasSubstr("cross_trainer_cache: it cannot be had with guarantee at_least_once"));
  EXPECT_THAT(with([](auto& x) { x.coordinated_reads = coordinated_reads{.num_consumers = 2}; }),
              HasSubstr("they cannot be had with guarantee at_least_once"));
}

} // namespace
} // namespace headrace::detail
