#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

worker_info placed(uint64_t id, uint32_t shard, uint64_t life = 1) {
  auto out = worker(id, life);
  out.shard = shard;
  return out;
}

/// A job under a static policy. The dispatcher's list has two workers.
driven_job over_two(std::vector<worker_info> present) {
  return {{.id = job_id{1},
           .name = "train",
           .policy = sharding_policy::data,
           .plan = one_source(10),
           .timing = {std::chrono::seconds{1}, std::chrono::seconds{5}},
           .worker_addresses = {"first", "second"}},
          std::move(present)};
}

TEST(StaticSharding, OrdersEachWorkerItsShard) {
  auto job = over_two({placed(1, 1), placed(2, 0)});
  const auto out = job.open(1);
  ASSERT_EQ(out.starts.size(), 2u);
  for (const auto& x : out.starts) {
    EXPECT_EQ(x.what.shards, 2u);
    EXPECT_EQ(x.what.shard, x.worker == worker_id{1} ? 1u : 0u);
    EXPECT_EQ(x.what.seed, out.starts[0].what.seed) << "all draw alike";
  }
  EXPECT_THAT(out.view().unserved, IsEmpty());
}

TEST(StaticSharding, IsNotOverBeforeEachShardWasRead) {
  auto job = over_two({placed(1, 0)});
  const auto first = job.open(1);
  ASSERT_EQ(first.starts.size(), 1u);
  EXPECT_THAT(first.view().unserved, ElementsAre("second"));
  job.started(first.starts[0]);
  const auto alone = job.announced(job.ended(first.starts[0].what));
  EXPECT_FALSE(job.state().finished());
  ASSERT_FALSE(alone.news.empty());
  EXPECT_THAT(alone.news.back().what.unserved, ElementsAre("second"));
  const auto second = job.came(placed(2, 1));
  ASSERT_EQ(second.starts.size(), 1u);
  job.started(second.starts[0]);
  job.ended(second.starts[0].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(StaticSharding, BeginsTheShardOfAWorkerThatIsGoneAnew) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.ended(out.starts[0].what);
  job.lost(worker_id{2});
  EXPECT_FALSE(job.state().finished());
  const auto again = job.came(placed(3, 1));
  ASSERT_EQ(again.starts.size(), 1u);
  EXPECT_EQ(again.starts[0].what.shard, 1u);
  EXPECT_NE(again.starts[0].what.id, out.starts[1].what.id);
  EXPECT_EQ(again.starts[0].what.seed, out.starts[1].what.seed) << "else it were another part";
  job.started(again.starts[0]);
  job.ended(again.starts[0].what);
  EXPECT_TRUE(job.state().finished());
  EXPECT_EQ(job.beat(1).answers.size(), 1u);
  EXPECT_EQ(job.core.record().losses_of(job.core.record().repetitions().at(0)).tasks, 1u);
}

TEST(StaticSharding, BeginsTheShardOfAWorkerThatLeftAnew) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.left(out.starts[1].what);
  job.lost(worker_id{2});
  job.ended(out.starts[0].what);
  EXPECT_FALSE(job.state().finished());
  EXPECT_EQ(job.came(placed(2, 1, 2)).starts.size(), 1u);
}

TEST(StaticSharding, BeginsNoShardThatWasRead) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.ended(out.starts[1].what);
  job.lost(worker_id{2});
  EXPECT_THAT(job.came(placed(2, 1, 2)).starts, IsEmpty());
  EXPECT_THAT(job.open(2).starts, IsEmpty());
  job.ended(out.starts[0].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(StaticSharding, GoesOnWithAWorkerThatWasAway) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.lost(worker_id{2});
  const auto back = job.came(placed(2, 1));
  ASSERT_EQ(back.starts.size(), 1u);
  EXPECT_EQ(back.starts[0].what.id, out.starts[1].what.id);
}

TEST(StaticSharding, GivesAWorkerThatComesBackToAnotherEntryThatShard) {
  auto job = over_two({placed(1, 0)});
  const auto first = job.open(1).starts.at(0);
  job.started(first);
  job.ended(first.what);
  job.lost(worker_id{1});
  const auto back = job.came(placed(1, 1));
  ASSERT_EQ(back.starts.size(), 1u);
  EXPECT_EQ(back.starts[0].what.shard, 1u);
  EXPECT_NE(back.starts[0].what.id, first.what.id);
}

TEST(StaticSharding, GivesAWorkerThatCameBackToAnotherEntryWhileNobodyReadThatShard) {
  auto job = over_two({placed(1, 0)});
  const auto first = job.open(1).starts.at(0);
  job.started(first);
  job.ended(first.what);
  job.leave(1);
  job.lost(worker_id{1});
  job.came(placed(1, 1));
  const auto out = job.open(2);
  ASSERT_EQ(out.starts.size(), 1u);
  EXPECT_EQ(out.starts[0].what.shard, 1u);
}

TEST(StaticSharding, CountsATaskWhoseEndIsLateIfAnotherReadsItsShardAgain) {
  for (const bool early : {true, false}) {
    auto job = over_two({placed(1, 0), placed(2, 1)});
    const auto out = job.open(1);
    for (const auto& x : out.starts) job.started(x);
    job.lost(worker_id{2});
    const auto again = job.came(placed(3, 1)).starts.at(0);
    job.started(again);
    if (early)
      job.ended(out.starts[1].what);
    job.ended(again.what);
    if (!early)
      job.ended(out.starts[1].what);
    job.ended(out.starts[0].what);
    EXPECT_TRUE(job.state().finished());
    EXPECT_EQ(job.core.record().losses_of(job.core.record().repetitions().at(0)).tasks, 1u);
  }
}

TEST(StaticSharding, TakesTheLateEndOfATaskIfTheOneAfterItIsLost) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.ended(out.starts[0].what);
  job.lost(worker_id{2});
  job.started(job.came(placed(3, 1)).starts.at(0));
  job.lost(worker_id{3});
  job.ended(out.starts[1].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(StaticSharding, TakesTheWordOfAWorkerThatWasAwayForTheEndOfItsShard) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.ended(out.starts[0].what);
  job.lost(worker_id{2});
  job.ended(out.starts[1].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(StaticSharding, GivesAWorkerWithoutAShardNothing) {
  auto job = over_two({worker(1), placed(2, 7)});
  EXPECT_THAT(job.open(1).starts, IsEmpty());
}

TEST(StaticSharding, KnowsItsShardsAfterARestart) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  for (const auto& x : out.starts) job.started(x);
  job.ended(out.starts[0].what);
  const auto again = job.restart({placed(2, 1)});
  ASSERT_EQ(again.starts.size(), 1u);
  EXPECT_EQ(again.starts[0].what.shard, 1u);
  EXPECT_FALSE(job.state().finished());
  job.ended(out.starts[1].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(StaticSharding, BeginsTheShardOfAMissingWorkerOnOneThatCameInItsPlace) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  for (const auto& x : job.open(1).starts) job.started(x);
  job.restart({placed(2, 1)});
  EXPECT_THAT(job.came(placed(3, 0)).starts, IsEmpty()) << "the other one may still come";
  job.pass(4s);
  job.beat(1);
  const auto out = job.pass(2s);
  ASSERT_EQ(out.starts.size(), 1u);
  EXPECT_EQ(out.starts[0].worker, worker_id{3});
  EXPECT_EQ(out.starts[0].what.shard, 0u);
}

TEST(StaticSharding, SaysThatShardsWereReadAgain) {
  EXPECT_EQ(describe({.tasks = 2}, sharding_policy::file),
            "2 workers were gone while they read, and their shards were read from the beginning "
            "again, so that elements may have come twice");
  EXPECT_EQ(describe({.tasks = 1}, sharding_policy::file),
            "1 worker was gone while it read, and its shard was read from the beginning again, so "
            "that elements may have come twice");
}

TEST(StaticSharding, RefusesATaskThatListsOtherFilesThanTheFirst) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  ASSERT_EQ(out.starts.size(), 2u);
  for (const auto& x : out.starts) job.started(x);
  const auto lists = [&](size_t task, uint64_t digest, std::vector<std::string> files) {
    const auto& order = out.starts[task].what;
    const auto how = job.ask({.task = order.id,
                              .life = order.life,
                              .wish = {.listing = std::make_shared<split_listing>(
                                         split_listing{digest, files.size(), files})}});
    return how.answers.at(job.last_token);
  };
  EXPECT_EQ(std::get<lease_answer>(lists(0, 7, {"a", "b"})), lease_answer{pass_over{}});
  EXPECT_EQ(std::get<lease_answer>(lists(0, 7, {"a", "b"})), lease_answer{pass_over{}});
  const auto refused = std::get<status>(lists(1, 8, {"a", "c"}));
  EXPECT_EQ(refused.code(), status_code::failed_precondition);
  EXPECT_THAT(refused.message(),
              testing::HasSubstr("the first that differs is b there and c here"));
  EXPECT_EQ(std::get<lease_answer>(lists(1, 7, {"a", "b"})), lease_answer{pass_over{}});
}

TEST(StaticSharding, LeasesNoSplits) {
  auto job = over_two({placed(1, 0), placed(2, 1)});
  const auto out = job.open(1);
  job.started(out.starts.at(0));
  const auto& order = out.starts[0].what;
  const auto how = job.ask({.task = order.id, .life = order.life, .wish = {}});
  EXPECT_THAT(std::get<status>(how.answers.at(job.last_token)).message(),
              testing::HasSubstr("has no splits to lease"));
}

} // namespace
} // namespace headrace::detail::test
