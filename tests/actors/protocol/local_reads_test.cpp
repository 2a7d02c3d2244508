#include "headrace/actors/protocol/local_reads.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

constexpr auto automatic = target_workers::automatic;
constexpr auto any = target_workers::any;
constexpr auto local = target_workers::local;

TEST(LocalReads, AConsumerReadsFromTheWorkersThatItsTargetsAndTheirTagsAllow) {
  struct row {
    const char* name;
    target_workers targets;
    worker_seat worker;
    uint64_t place;
    bool reads;
  };
  const worker_seat apart{}, here{7, false}, there{8, false}, only_here{7, true},
    only_there{8, true}, only_itself{0, true};
  for (const auto& x : {
         row{"any, apart", any, apart, 7, true},
         row{"any, here", any, here, 7, true},
         row{"any, there", any, there, 7, true},
         row{"any, colocated here", any, only_here, 7, true},
         row{"any, colocated there", any, only_there, 7, false},
         row{"auto, apart", automatic, apart, 7, true},
         row{"auto, there", automatic, there, 7, true},
         row{"auto, colocated here", automatic, only_here, 7, true},
         row{"auto, colocated there", automatic, only_there, 7, false},
         row{"local, apart", local, apart, 7, false},
         row{"local, here", local, here, 7, true},
         row{"local, there", local, there, 7, false},
         row{"local, colocated here", local, only_here, 7, true},
         row{"local, colocated there", local, only_there, 7, false},
         row{"any, from an unknown place", any, apart, 0, true},
         row{"local, both unknown", local, apart, 0, false},
         row{"colocated, both unknown", any, only_itself, 0, false},
       })
    EXPECT_EQ(may_read(x.targets, x.worker, x.place), x.reads) << x.name;
}

TEST(LocalReads, AutoIsLocalUnderAStaticPolicyWhereWorkersAreColocated) {
  using enum sharding_policy;
  for (auto mode : {off, dynamic, file, data, file_or_data, hint})
    for (auto asked : all_target_workers)
      for (auto deployment : deployment_modes) {
        const bool changes =
          is_static(mode) && asked == automatic && deployment == deployment_mode::colocated;
        EXPECT_EQ(resolved(asked, mode, deployment), changes ? local : asked)
          << to_string(mode) << ", " << to_string(asked) << ", " << to_string(deployment);
      }
}

TEST(LocalReads, TheTagIsTheWordInAnyCase) {
  EXPECT_TRUE(is_colocated({"gpu", "COLOCATED"}));
  EXPECT_TRUE(is_colocated({"colocated"}));
  EXPECT_FALSE(is_colocated({}));
  EXPECT_FALSE(is_colocated({"gpu", "COLOCATED2", "COLO"}));
}

TEST(LocalReads, TheWordsOfADeploymentModeAreReadBack) {
  for (auto x : deployment_modes) EXPECT_EQ(deployment_mode_of(to_string(x)).value(), x);
  EXPECT_EQ(deployment_mode_of("here").status().code(), status_code::invalid_argument);
}

} // namespace
} // namespace headrace::detail
