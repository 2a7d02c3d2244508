#include "tests/actors/world/disturbed_world.hpp"
#include "tests/support/test_seed.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <vector>

namespace headrace::detail::test {
namespace {

std::string story_of(const disturbed_world& x) {
  std::string out;
  for (const auto& line : x.story()) out += "  " + line + "\n";
  return out;
}

/// Environment variables: HEADRACE_WORLD_SEED selects one world, whose history is printed;
/// HEADRACE_WORLDS is the number of worlds; if HEADRACE_SMALL_WORLDS is set, each world has about a
/// thousand events.
TEST(World, KeepsItsWordWhateverBefallsIt) {
  const bool small = std::getenv("HEADRACE_SMALL_WORLDS") != nullptr;
  const auto size = small ? disturbed_world::small() : disturbed_world::scale{};
  if (const auto* one = std::getenv("HEADRACE_WORLD_SEED")) {
    disturbed_world x{std::strtoull(one, nullptr, 0), size};
    x.run();
    std::printf("%s", story_of(x).c_str());
    for (const auto& [rule, what] : x.judged()) ADD_FAILURE() << rule << ": " << what;
    return;
  }
  const auto* most = std::getenv("HEADRACE_WORLDS");
  const auto worlds = most != nullptr ? std::strtoull(most, nullptr, 0) : 80;
  // Each run has the same worlds, so that a difference is caused by a change of the code. If
  // HEADRACE_TEST_SEED is set, the worlds are drawn from that seed.
  const auto base = std::getenv("HEADRACE_TEST_SEED") != nullptr ? test_seed() : 1;
  uint64_t events = 0;
  std::map<std::string, std::vector<uint64_t>> broken;
  for (uint64_t seed = base; seed < base + worlds; ++seed) {
    disturbed_world x{seed, size};
    x.run();
    events += x.events();
    for (const auto& [rule, what] : x.judged()) {
      if (broken[rule].size() < 2)
        ADD_FAILURE() << rule << ": " << what << "\n"
                      << story_of(x) << "again: HEADRACE_WORLD_SEED=" << seed
                      << (small ? " HEADRACE_SMALL_WORLDS=1" : "")
                      << " build/tests/actors_test '--gtest_filter=World.*'";
      broken[rule].push_back(seed);
    }
  }
  std::printf("%llu events in %llu worlds\n", static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(worlds));
  for (const auto& [rule, seeds] : broken) {
    std::printf("%s: %zu:", rule.c_str(), seeds.size());
    for (size_t i = 0; i < std::min<size_t>(seeds.size(), 40); ++i)
      std::printf(" %llu", static_cast<unsigned long long>(seeds[i]));
    std::printf("\n");
  }
}

/// The number of events of the world, followed by the elements that each trainer was given.
std::vector<std::vector<int64_t>> history_of(uint64_t seed) {
  disturbed_world x{seed, disturbed_world::small()};
  x.run();
  std::vector<std::vector<int64_t>> out{{static_cast<int64_t>(x.events())}};
  for (const auto& t : x.the_world().trainers) out.push_back(t.history().handed_out);
  return out;
}

TEST(World, HasOneHistoryForASeedWhateverRanBefore) {
  std::map<uint64_t, std::vector<std::vector<int64_t>>> first;
  for (uint64_t seed = 8081; seed < 8091; ++seed) first[seed] = history_of(seed);
  for (uint64_t seed = 8090; seed > 8080; --seed) EXPECT_EQ(history_of(seed), first[seed]) << seed;
}

TEST(World, LosesNothingUnderAtLeastOnceWhereWorkersAndTrainersDie) {
  using world_kind = disturbed_world;
  constexpr uint32_t allowed = world_kind::worker_deaths | world_kind::worker_leaves
                               | world_kind::worker_joins | world_kind::trainer_deaths
                               | world_kind::trainer_leaves | world_kind::rereads;
  size_t read_again = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    disturbed_world x{seed, {.most_splits = 100, .most_rows = 5}, allowed};
    x.run();
    for (const auto& [rule, what] : x.judged())
      ADD_FAILURE() << "seed " << seed << ": " << rule << ": " << what << "\n" << story_of(x);
    const auto& w = x.the_world();
    if (w.about.guarantee == delivery_guarantee::at_least_once)
      for (const auto& [split, tasks] : w.leases) read_again += tasks.size() > 1;
  }
  EXPECT_GT(read_again, 50u) << "the worlds were too quiet to show anything";
}

TEST(World, LosesNothingWhereWorkersAreDrained) {
  size_t drained = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    // Half of the worlds have a dispatcher that may be killed during the drain, and starts again
    // with its state.
    disturbed_world x{
      seed,
      {.most_splits = 300, .most_rows = 5, .more_time_to_drain = std::chrono::hours{1}},
      disturbed_world::drains | (seed > 60 ? disturbed_world::dispatcher_returns : 0u)};
    x.run();
    for (const auto& [rule, what] : x.judged())
      ADD_FAILURE() << "seed " << seed << ": " << rule << ": " << what << "\n" << story_of(x);
    for (const auto& one : x.drained()) {
      EXPECT_EQ(one.unfinished, 0u) << "seed " << seed;
      ++drained;
    }
    // Only tasks with leases are checked. A task that a leaving worker refused counts as lost, too,
    // but no elements are lost with it.
    for (const auto& [split, tasks] : x.the_world().leases)
      for (auto id : tasks)
        EXPECT_FALSE(x.the_world().lost_tasks.contains(id)) << "seed " << seed << "\n"
                                                            << story_of(x);
  }
  EXPECT_GT(drained, 50u) << "the worlds were too quiet to show anything";
}

/// Small worlds in which a promise was broken before the cores were corrected.
TEST(World, KeepsItsWordWhereItOnceBrokeIt) {
  for (const uint64_t seed : {1387, 2873, 7269, 7722, 8812, 8901, 9098, 9664, 9795, 10561, 11317,
                              12038, 12462, 13292, 13370, 16407}) {
    disturbed_world x{seed, disturbed_world::small(),
                      disturbed_world::every & ~disturbed_world::shards & ~disturbed_world::rereads
                        & ~disturbed_world::drains};
    x.run();
    for (const auto& [rule, what] : x.judged())
      ADD_FAILURE() << "seed " << seed << ": " << rule << ": " << what << "\n" << story_of(x);
  }
}

} // namespace
} // namespace headrace::detail::test
