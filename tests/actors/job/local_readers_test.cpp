#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

#include <set>

namespace headrace::detail::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

worker_info at_place(uint64_t place, uint64_t id, std::vector<std::string> tags = {}) {
  auto out = worker(id);
  out.place = place;
  out.tags = std::move(tags);
  return out;
}

/// Each row descends from one split, so that splits that reached no reader can be read again.
split_plan rows_apart(uint64_t splits) {
  auto out = one_source(splits);
  out.rows = {.apart = true, .single = true, .in_order = true};
  return out;
}

driven_job job_of(sharding_policy policy, target_workers targets, std::vector<worker_info> present,
                  std::string name = "train") {
  job_description about{.id = job_id{1},
                        .name = std::move(name),
                        .policy = policy,
                        .plan = rows_apart(10),
                        .timing = {std::chrono::seconds{1}, std::chrono::seconds{5}},
                        .terms = {.client_timeout = std::chrono::seconds{5}},
                        .targets = targets};
  if (is_static(policy)) {
    about.worker_addresses = {"first", "second"};
    for (uint32_t i = 0; i < present.size(); ++i) present[i].shard = i;
  }
  return {about, std::move(present)};
}

std::vector<uint64_t> started_on(const job_outcome& out) {
  std::vector<uint64_t> workers;
  for (const auto& x : out.starts) workers.push_back(x.worker.value);
  return workers;
}

TEST(LocalReaders, HaveTasksStartedOnTheirOwnWorkersAlone) {
  for (auto policy : {sharding_policy::off, sharding_policy::dynamic}) {
    auto job = job_of(policy, target_workers::local, {at_place(7, 1), at_place(8, 2), worker(3)});
    EXPECT_THAT(started_on(job.open_at(7, 1)), ElementsAre(1));
    EXPECT_THAT(started_on(job.open_at(9, 2)), IsEmpty()) << "no worker is in its process";
    EXPECT_THAT(started_on(job.open_at(8, 3)), ElementsAre(2));
    EXPECT_THAT(started_on(job.open_at(8, 4)), IsEmpty()) << "it has its task";
    EXPECT_THAT(started_on(job.came(at_place(6, 4))), IsEmpty());
    EXPECT_THAT(started_on(job.came(at_place(9, 5))), ElementsAre(5));
  }
}

TEST(LocalReaders, AColocatedWorkerHasTasksForItsOwnProcessAlone) {
  for (auto targets : {target_workers::automatic, target_workers::any}) {
    auto job = job_of(sharding_policy::dynamic, targets,
                      {at_place(7, 1, {"COLOCATED"}), at_place(8, 2), worker(3)});
    EXPECT_THAT(started_on(job.open_at(8, 1)), ElementsAre(2, 3));
    EXPECT_THAT(started_on(job.open_at(7, 2)), ElementsAre(1));
  }
}

TEST(LocalReaders, AreToldFromWhichTasksToRead) {
  auto job = job_of(sharding_policy::dynamic, target_workers::local, {at_place(7, 1)});
  job.started(job.open_at(7, 1).starts.at(0));
  const auto out = job.open_at(8, 2);
  EXPECT_EQ(out.view().targets, target_workers::local);
  ASSERT_EQ(out.view().tasks.size(), 1u);
  EXPECT_EQ(out.view().tasks[0].seat, (worker_seat{7, false}));
}

TEST(LocalReaders, ATaskIsToldOnlyOfThoseThatReadIt) {
  auto job =
    job_of(sharding_policy::dynamic, target_workers::local, {at_place(7, 1), at_place(8, 2)});
  job.started(job.open_at(7, 1).starts.at(0));
  const auto out = job.open_at(8, 2);
  EXPECT_THAT(out.starts.at(0).what.readers.consumers, ElementsAre(consumer_id{2}));
  ASSERT_EQ(out.named.size(), 1u);
  EXPECT_THAT(out.named[0].who.consumers, ElementsAre(consumer_id{1}));
}

/// Two processes, with a worker and a reader each, whose tasks run.
struct two_places {
  two_places(sharding_policy policy, target_workers targets = target_workers::local)
    : job(job_of(policy, targets, {at_place(7, 1, {"COLOCATED"}), at_place(8, 2, {"COLOCATED"})})) {
    first = job.open_at(7, 1).starts.at(0).what;
    second = job.open_at(8, 2).starts.at(0).what;
    job.started({worker_id{1}, first});
    job.started({worker_id{2}, second});
  }
  driven_job job;
  task_order first, second;
};

TEST(LocalReaders, UnderDynamicOthersReadWhatATaskHadWhoseReadersAreGone) {
  for (auto targets : {target_workers::local, target_workers::automatic}) {
    two_places x{sharding_policy::dynamic, targets};
    const auto held = x.job.ask(x.first, {0, 0, 0});
    ASSERT_TRUE(held);
    const auto gone = x.job.leave(1, 0, {}, {{.task = x.first.id}});
    ASSERT_EQ(gone.stops.size(), 1u) << "nobody will read what it makes";
    EXPECT_EQ(gone.stops[0].task, x.first.id);
    EXPECT_EQ(x.job.state().tasks().at(x.first.id).state, iteration::task_state::lost);
    x.job.beat(2, 0, {{.task = x.first.id}});
    // All splits go to the other task, including those that were leased to the first one.
    std::set<uint64_t> splits;
    for (uint64_t number = 0;; ++number) {
      const auto answer = x.job.ask(x.second, {0, 0, number});
      ASSERT_TRUE(answer);
      const auto& range = answer->splits;
      if (!range)
        break;
      for (auto i = range->first; i < range->first + range->count; ++i) splits.insert(i);
    }
    EXPECT_EQ(splits.size(), 10u);
    x.job.ended(x.second);
    EXPECT_TRUE(x.job.state().finished());
  }
}

TEST(LocalReaders, UnderDynamicOneThatComesBackGetsAnotherTask) {
  two_places x{sharding_policy::dynamic};
  x.job.leave(1, 0, {}, {{.task = x.first.id}});
  const auto back = x.job.open_at(7, 3);
  ASSERT_THAT(started_on(back), ElementsAre(1));
  EXPECT_NE(back.starts[0].what.id, x.first.id);
}

TEST(LocalReaders, UnderDynamicATaskGoesOnWhileAReaderOfItsProcessIsThere) {
  two_places x{sharding_policy::dynamic};
  x.job.open_at(7, 3);
  EXPECT_THAT(x.job.leave(1).stops, IsEmpty());
  EXPECT_TRUE(x.job.state().tasks().at(x.first.id).alive());
}

TEST(LocalReaders, TasksGoOnWhileNobodyReadsAtAll) {
  two_places x{sharding_policy::dynamic};
  x.job.leave(2, 0, {}, {{.task = x.second.id}});
  EXPECT_THAT(x.job.leave(1, 0, {}, {{.task = x.first.id}}).stops, IsEmpty());
  EXPECT_THAT(started_on(x.job.open_at(7, 3)), IsEmpty()) << "it goes on where the last one was";
}

TEST(LocalReaders, UnderDynamicWhoComesAfterAllGetsWhatTasksOfOtherProcessesHad) {
  two_places x{sharding_policy::dynamic};
  x.job.leave(2, 0, {}, {{.task = x.second.id}});
  x.job.ask(x.first, {0, 0, 0});
  x.job.leave(1, 0, {}, {{.task = x.first.id}});
  const auto out = x.job.open_at(8, 3);
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].task, x.first.id);
}

TEST(LocalReaders, UnderOffNobodyWaitsForACopyThatNobodyReads) {
  two_places x{sharding_policy::off};
  EXPECT_THAT(x.job.leave(1).stops, IsEmpty()) << "its reader may come back";
  const auto over = x.job.ended(x.second);
  EXPECT_TRUE(x.job.state().finished());
  ASSERT_EQ(over.stops.size(), 1u);
  EXPECT_EQ(over.stops[0].task, x.first.id);
}

TEST(LocalReaders, UnderOffTheLastReaderIsNotKeptByACopyOfOnesThatAreGone) {
  two_places x{sharding_policy::off};
  x.job.ended(x.second);
  EXPECT_FALSE(x.job.state().finished()) << "the other copy is read";
  x.job.leave(1);
  EXPECT_TRUE(x.job.state().finished());
}

TEST(LocalReaders, UnderAStaticPolicyASharedJobWaitsForEachShard) {
  two_places x{sharding_policy::data};
  EXPECT_EQ(x.job.leave(1).stops.size(), 1u);
  x.job.ended(x.second);
  EXPECT_FALSE(x.job.state().finished());
  const auto back = x.job.open_at(7, 3);
  ASSERT_THAT(started_on(back), ElementsAre(1));
  EXPECT_NE(back.starts[0].what.id, x.first.id) << "the shard begins anew";
  EXPECT_THAT(back.view().unserved, IsEmpty());
  x.job.started(back.starts[0]);
  x.job.ended(back.starts[0].what);
  EXPECT_TRUE(x.job.state().finished());
}

TEST(LocalReaders, UnderAStaticPolicyAWorkerThatComesBackGoesOnWithTheShardThatItBeganAnew) {
  two_places x{sharding_policy::data};
  x.job.leave(1);
  const auto anew = x.job.open_at(7, 3).starts.at(0);
  x.job.started(anew);
  x.job.lost(worker_id{1});
  auto back = at_place(7, 1, {"COLOCATED"});
  back.shard = 0;
  const auto out = x.job.came(back);
  ASSERT_THAT(started_on(out), ElementsAre(1));
  EXPECT_EQ(out.starts[0].what.id, anew.what.id);
}

TEST(LocalReaders, UnderAStaticPolicyAWorkerThatWasAwayStopsATaskThatNobodyReads) {
  two_places x{sharding_policy::data};
  auto back = at_place(7, 1, {"COLOCATED"});
  back.shard = 0;
  auto other = at_place(8, 2, {"COLOCATED"});
  other.shard = 1;
  x.job.restart({other});
  EXPECT_THAT(x.job.leave(1).stops, IsEmpty()) << "its worker is not there";
  const auto stops = x.job.came(back).stops;
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].task, x.first.id);
}

TEST(LocalReaders, UnderAStaticPolicyAJobOfOneReaderIsOverWithItsOwnShard) {
  auto job =
    job_of(sharding_policy::data, target_workers::local, {at_place(7, 1), at_place(8, 2)}, "");
  const auto out = job.open_at(8, 1);
  ASSERT_THAT(started_on(out), ElementsAre(2));
  EXPECT_THAT(out.view().unserved, IsEmpty());
  job.started(out.starts[0]);
  job.ended(out.starts[0].what);
  EXPECT_TRUE(job.state().finished());
}

TEST(LocalReaders, UnderAStaticPolicyAJobOfOneReaderIsNotOverBeforeItsShardCame) {
  auto job =
    job_of(sharding_policy::data, target_workers::local, {at_place(7, 1), at_place(8, 2)}, "");
  job.started(job.open_at(8, 1).starts.at(0));
  EXPECT_THAT(job.announced(job.lost(worker_id{2})).news.back().what.unserved,
              ElementsAre("second"));
  EXPECT_FALSE(job.state().finished());
}

TEST(LocalReaders, AreKnownToACoreThatTakesOver) {
  two_places x{sharding_policy::dynamic};
  const auto out = x.job.restart({at_place(7, 1), at_place(8, 2)});
  EXPECT_THAT(out.stops, IsEmpty());
  EXPECT_THAT(started_on(x.job.open_at(7, 3)), IsEmpty());
  EXPECT_THAT(x.job.leave(2, 0, {}, {{.task = x.second.id}}).stops.size(), 1u);
}

} // namespace
} // namespace headrace::detail::test
