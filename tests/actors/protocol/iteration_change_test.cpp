#include "headrace/actors/protocol/iteration_change.hpp"

#include <gtest/gtest.h>

#include <random>

namespace headrace::detail::test {
namespace {

task_address at(uint64_t id, uint64_t life = 1) {
  return {task_id{id}, incarnation{life}, "worker:" + std::to_string(id), "boot", worker_id{id}};
}

bool same(const iteration_view& a, const iteration_view& b) {
  return a.version == b.version && a.tasks == b.tasks && a.starting == b.starting
         && a.lost == b.lost && a.held == b.held && a.finished == b.finished && b.since == 0
         && b.gone.empty();
}

/// A view of some tasks, each in a random state.
iteration_view drawn(std::mt19937_64& random, uint64_t version) {
  iteration_view out{.job = job_id{7}, .repetition = 2, .version = version};
  for (uint64_t id = 1; id <= 20; ++id) switch (random() % 5) {
    case 0: out.tasks.push_back(at(id, random() % 2)); break;
    case 1: out.starting.push_back(at(id)); break;
    case 2: out.lost.emplace_back(id); break;
    default: break;
    }
  out.held.emplace_back(random() % 3);
  out.finished = random() % 2 == 0;
  return out;
}

TEST(IterationChange, MakesTheLaterViewOfAnyThatIsNotOlderThanItsBeginning) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 200; ++i) {
    const auto first = drawn(random, 10);
    const auto second = drawn(random, 12);
    const auto change = change_between(first, second);
    EXPECT_TRUE(same(second, changed(first, change).value()));
    EXPECT_TRUE(same(second, changed(second, change).value())) << "it comes twice";
  }
}

TEST(IterationChange, OfOneTaskIsShortHoweverManyThereAre) {
  iteration_view before{.job = job_id{7}, .version = 1};
  for (uint64_t id = 1; id <= 1000; ++id) before.tasks.push_back(at(id));
  auto after = before;
  after.version = 2;
  after.tasks.pop_back();
  after.lost.emplace_back(1000);
  const auto change = change_between(before, after);
  EXPECT_TRUE(change.tasks.empty());
  EXPECT_TRUE(change.gone.empty());
  EXPECT_EQ(change.lost, std::vector{task_id{1000}});
}

TEST(IterationChange, GoesOutFromAViewThatIsKnown) {
  const iteration_view first{.job = job_id{7}, .version = 5};
  iteration_view second{.job = job_id{7}, .version = 9, .tasks = {at(1)}};
  const auto change = change_between(first, second);
  EXPECT_FALSE(changed({}, change)) << "nothing is known";
  EXPECT_FALSE(changed({.job = job_id{7}, .version = 4}, change)) << "an announcement was lost";
  EXPECT_FALSE(changed({.job = job_id{8}, .version = 5}, change)) << "of another job";
  EXPECT_FALSE(changed({.job = job_id{7}, .repetition = 1, .version = 5}, change));
  EXPECT_TRUE(same(second, changed({}, second).value())) << "the whole needs nothing";
}

} // namespace
} // namespace headrace::detail::test
