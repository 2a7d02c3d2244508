#include "headrace/actors/job/splits/lease_history.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

constexpr task_id task{1}, other{2};
constexpr consumer_id ann{1}, bob{2};

split_plan one_source(const split_rows& rows) {
  split_plan out;
  out.sources = {{.splits = 100}};
  out.groups = 1;
  out.rows = rows;
  return out;
}
constexpr split_rows mixed{}, in_batches{.in_order = true}, files{.apart = true, .in_order = true},
  shuffled_files{.apart = true}, numbers{.apart = true, .single = true, .in_order = true};

class LeaseHistory : public testing::Test {
protected:
  void leased(task_id to, split_range what, uint64_t number) {
    x.apply(split_assigner::fact{split_assigner::leased_to{to, 0, 0, number, what}});
  }
  void lost(std::vector<consumer_id> readers) { x.apply(lease_history::lost{task, readers}); }
  void received(consumer_id who, std::vector<split_range> what,
                std::optional<uint64_t> newest = {}) {
    split_receipt said{.task = task};
    for (const auto& one : what) said.reached.push_back({0, 0, one});
    if (newest)
      said.newest = split_run{0, 0, {*newest, 1}};
    x.apply(lease_history::received{who, said});
  }
  using ranges = std::vector<split_range>;
  ranges back() {
    ranges out;
    const auto settled = x.settle().value();
    for (const auto& one : settled.back) out.push_back(one.splits);
    return out;
  }
  iteration_losses losses() { return x.settle().value().outcome.lost; }
  void of(const split_rows& rows) { x = lease_history{one_source(rows)}; }

  lease_history x{one_source(numbers)};
};

TEST_F(LeaseHistory, GivesBackWhatNoReaderGot) {
  leased(task, {0, 10}, 0);
  leased(other, {10, 5}, 0);
  leased(task, {15, 5}, 1);
  lost({ann, bob});
  received(ann, {{0, 3}, {17, 1}});
  EXPECT_FALSE(x.settle()) << "bob has not said anything";
  received(bob, {{3, 2}});
  EXPECT_EQ(back(), (ranges{{5, 5}, {15, 2}, {18, 2}}));
  EXPECT_EQ(losses(), (iteration_losses{.tasks = 0, .splits = 0, .reread = 9}));
}

TEST_F(LeaseHistory, KnowsWhatOnlyTheSecondSourceOfAGroupWasGiven) {
  auto plan = one_source(numbers);
  plan.sources.push_back({.splits = 100});
  x = lease_history{plan};
  const auto give = [&](uint32_t source, uint64_t number, split_range what) {
    x.apply(split_assigner::fact{split_assigner::leased_to{task, source, 0, number, what}});
  };
  give(0, 0, {0, 4});
  give(1, 0, {0, 4});
  give(1, 1, {4, 6});
  lost({ann});
  received(ann, {});
  EXPECT_EQ(back(), (ranges{{0, 10}})) << "and each once";
}

TEST_F(LeaseHistory, AsksTheTaskWhatAReaderGotThatIsGone) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::unheard{ann, 4});
  leased(task, {10, 5}, 1);
  x.apply(lease_history::given{task, 3, {.task = task}});
  x.apply(
    lease_history::given{task, 4, {.task = task, .reached = {{0, 0, {0, 3}}, {0, 0, {11, 1}}}}});
  leased(task, {15, 5}, 2);
  lost({bob});
  received(bob, {{4, 1}});
  EXPECT_EQ(back(), (ranges{{3, 1}, {5, 6}, {12, 8}}));
  EXPECT_EQ(losses().splits, 0u);
}

TEST_F(LeaseHistory, CountsOnceWhatATaskSaysThatReadersTookWithThem) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::unheard{ann, 4});
  for (int i = 0; i < 2; ++i) x.apply(lease_history::given{task, 4, {.task = task}, 7});
  x.apply(lease_history::given{task, 5, {.task = task}, 9});
  EXPECT_EQ(x.losses().elements, 9u);
}

TEST_F(LeaseHistory, KnowsNothingOfWhatAReaderGotThatDiedBeforeItsTaskSaidIt) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::unheard{ann, 4});
  leased(task, {10, 5}, 1);
  x.apply(lease_history::given{task, 3, {.task = task}});
  lost({bob});
  received(bob, {{4, 1}, {12, 1}});
  EXPECT_EQ(back(), ranges{});
  EXPECT_EQ(losses().splits, 13u);
}

TEST_F(LeaseHistory, HasAReaderThatSaidWhatItGotGoWithoutDoubt) {
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{0, 3}});
  x.apply(lease_history::unheard{ann, 4});
  received(bob, {});
  EXPECT_EQ(back(), (ranges{{3, 7}}));
}

TEST_F(LeaseHistory, GivesBackAtOnceWhatNobodyReads) {
  leased(task, {0, 10}, 0);
  lost({});
  EXPECT_EQ(back(), (ranges{{0, 10}}));
}

TEST_F(LeaseHistory, TakesWhatOneThatIsGoneMayHaveGotForReached) {
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{0, 1}});
  x.apply(lease_history::unheard{bob});
  EXPECT_EQ(back(), ranges{});
  EXPECT_EQ(losses(), (iteration_losses{.tasks = 1, .splits = 9, .reread = 0}))
    << "the other one has the first of them; of all others nobody can say it";
}

TEST_F(LeaseHistory, DoesNotCountWhatOthersGotThatOneWhoIsGoneMayHaveGot) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::unheard{bob});
  leased(task, {10, 5}, 1);
  lost({ann});
  received(ann, {{2, 9}});
  EXPECT_EQ(back(), (ranges{{11, 4}}));
  EXPECT_EQ(losses().splits, 2u);
}

TEST_F(LeaseHistory, KeepsWhatOneThatLeavesSaidForLater) {
  leased(task, {0, 10}, 0);
  received(ann, {{0, 6}});
  lost({bob});
  received(bob, {{6, 1}});
  EXPECT_EQ(back(), (ranges{{7, 3}}));
}

TEST_F(LeaseHistory, ForgetsWhatATaskGaveBackItself) {
  leased(task, {0, 10}, 0);
  x.apply(split_assigner::fact{split_assigner::returned{0, 0, {4, 2}, false}});
  lost({});
  EXPECT_EQ(back(), (ranges{{0, 4}, {6, 4}}));
}

TEST_F(LeaseHistory, CountsAnAnswerThatIsToldAgainOnce) {
  leased(task, {0, 10}, 0);
  leased(task, {0, 10}, 0);
  lost({});
  EXPECT_EQ(back(), (ranges{{0, 10}}));
}

TEST_F(LeaseHistory, ForgetsATaskThatEndedWell) {
  leased(task, {0, 10}, 0);
  EXPECT_TRUE(x.has(task));
  x.apply(split_assigner::fact{split_assigner::task_gone{task}});
  EXPECT_FALSE(x.has(task));
  EXPECT_EQ(x.records(), 0u);
}

TEST_F(LeaseHistory, DoesNotReadAgainWhatAFilterLeftOut) {
  leased(task, {0, 10}, 0);
  lost({ann});
  received(ann, {{1, 1}, {4, 1}}, 4);
  EXPECT_EQ(back(), (ranges{{5, 5}}));
}

TEST_F(LeaseHistory, CountsRowsThatWereGivenBackToATaskThatIsLost) {
  leased(task, {0, 10}, 0);
  lost({ann});
  split_receipt said{.task = task, .reached = {{0, 0, {0, 10}}}, .given_back = 4};
  x.apply(lease_history::received{ann, said});
  EXPECT_EQ(losses(), (iteration_losses{.tasks = 1, .splits = 4, .reread = 0}));
}

TEST_F(LeaseHistory, HasReadAgainWhatWasGivenBackToATaskThatIsLost) {
  leased(task, {0, 10}, 0);
  lost({ann});
  split_receipt said{
    .task = task, .reached = {{0, 0, {0, 6}}}, .given_back = 4, .without_given_back = true};
  x.apply(lease_history::received{ann, said});
  EXPECT_EQ(back(), (ranges{{6, 4}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 4}));
}

TEST_F(LeaseHistory, CountsWhatAReceiptOnlyMayName) {
  leased(task, {0, 10}, 0);
  lost({ann});
  split_receipt said{.task = task, .reached = {{0, 0, {0, 6}}}, .approximate = true};
  x.apply(lease_history::received{ann, said});
  EXPECT_EQ(back(), (ranges{{6, 4}}));
  EXPECT_EQ(losses().splits, 6u);
}

TEST_F(LeaseHistory, TakesAllForUnknownOfPassesThatAReaderForgot) {
  leased(task, {0, 10}, 0);
  lost({ann});
  x.apply(lease_history::received{ann, {.task = task, .from_pass = 1}});
  EXPECT_EQ(back(), ranges{});
  EXPECT_EQ(losses().splits, 10u);
}

TEST_F(LeaseHistory, CountsTheFileThatWasBeingReadAsLost) {
  of(files);
  leased(task, {0, 10}, 0);
  lost({ann});
  received(ann, {{0, 4}}, 3);
  EXPECT_EQ(back(), (ranges{{4, 6}}));
  EXPECT_EQ(losses(), (iteration_losses{.tasks = 1, .splits = 1, .reread = 6}));
}

TEST_F(LeaseHistory, CountsAllFilesThatMayLackRowsWhereTheyAreReadSideBySide) {
  of(shuffled_files);
  leased(task, {0, 10}, 0);
  lost({ann});
  received(ann, {{0, 4}}, 0);
  EXPECT_EQ(losses(), (iteration_losses{.tasks = 1, .splits = 4, .reread = 6}));
}

TEST_F(LeaseHistory, GivesNothingBackOfBatchesAndCountsThemFromTheLastOne) {
  of(in_batches);
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{3, 1}}, 3);
  received(bob, {{7, 1}}, 7);
  EXPECT_EQ(back(), ranges{});
  EXPECT_EQ(losses().splits, 7u) << "ann's batch may lack its rest, and so may all after it";
  of(mixed);
  leased(task, {0, 10}, 0);
  lost({});
  EXPECT_EQ(losses().splits, 10u);
}

TEST_F(LeaseHistory, CountsBatchesOfAReaderThatIsGoneFromTheFirstOneOn) {
  of(in_batches);
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{7, 1}}, 7);
  x.apply(lease_history::unheard{bob});
  EXPECT_EQ(losses().splits, 10u) << "bob may have held batches that come before ann's newest one";
}

TEST_F(LeaseHistory, CountsFilesThatAReaderMayHaveGotInPartThatIsGone) {
  of(files);
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{0, 8}}, 7);
  x.apply(lease_history::unheard{bob});
  EXPECT_EQ(losses().splits, 10u) << "bob may have held rows of each file";
}

TEST_F(LeaseHistory, AddsUpWhatIsSettled) {
  of(files);
  for (auto id : {task, other}) {
    leased(id, {id.value * 10, 5}, 0);
    x.apply(lease_history::lost{id, {}});
    x.apply(x.settle()->outcome);
  }
  EXPECT_EQ(x.losses(), (iteration_losses{.tasks = 0, .splits = 0, .reread = 10}));
  EXPECT_FALSE(x.unsettled());
}

/// The history of a job with coordinated reads.
class LeaseHistoryOfRounds : public LeaseHistory {
protected:
  LeaseHistoryOfRounds() { of(in_batches); }
  void of(const split_rows& rows) {
    x = lease_history{one_source(rows), delivery_guarantee::at_most_once, true};
  }
};

TEST_F(LeaseHistoryOfRounds, DoesNotCountWhatATaskThatLeavesGaveBack) {
  of(mixed);
  leased(task, {0, 10}, 0);
  x.apply(split_assigner::fact{split_assigner::returned{0, 0, {5, 5}}});
  lost({});
  EXPECT_EQ(losses().splits, 5u);
}

TEST_F(LeaseHistoryOfRounds, CountsFromTheNewestRowOfReadersThatLeft) {
  leased(task, {0, 1000}, 0);
  received(ann, {{0, 900}}, 899);
  received(bob, {{0, 899}}, 898);
  lost({});
  EXPECT_EQ(losses().splits, 102u);
}

TEST_F(LeaseHistoryOfRounds, CountsAllWhereAReaderLeftThatWasHandedNothing) {
  leased(task, {0, 1000}, 0);
  received(ann, {{0, 900}}, 899);
  received(bob, {});
  lost({});
  EXPECT_EQ(losses().splits, 1000u);
}

TEST_F(LeaseHistoryOfRounds, CountsFromTheNewestRowOfReadersThatReadOn) {
  leased(task, {0, 1000}, 0);
  received(ann, {{0, 100}}, 99);
  lost({bob});
  received(bob, {{0, 900}}, 899);
  EXPECT_EQ(losses().splits, 101u);
}

TEST_F(LeaseHistoryOfRounds, CountsFromThereAlsoWhereAReaderIsGone) {
  leased(task, {0, 1000}, 0);
  x.apply(lease_history::unheard{ann, 4});
  lost({bob, consumer_id{3}});
  received(bob, {{0, 900}}, 899);
  x.apply(lease_history::unheard{consumer_id{3}, 5});
  EXPECT_EQ(losses().splits, 101u) << "the job counts what the other ones had before that";
}

TEST_F(LeaseHistoryOfRounds, CountsAllWhereAllReadersAreGone) {
  leased(task, {0, 1000}, 0);
  x.apply(lease_history::unheard{ann, 4});
  x.apply(lease_history::unheard{bob, 5});
  lost({});
  EXPECT_EQ(losses().splits, 1000u);
}

/// The history of a job under at_least_once.
class RereadHistory : public LeaseHistory {
protected:
  RereadHistory() { of(numbers); }
  void of(const split_rows& rows) {
    x = lease_history{one_source(rows), delivery_guarantee::at_least_once};
  }
  void done(std::vector<splits_done> places) { x.apply(lease_history::done{task, places}); }
  void gone() { x.apply(split_assigner::fact{split_assigner::task_gone{task}}); }
  /// The splits of `task` that are read again when a reader that held rows of them is gone.
  ranges again() {
    ranges out;
    const auto again = x.read_again(task).value();
    for (const auto& one : again.back) out.push_back(one.splits);
    return out;
  }
};

TEST_F(RereadHistory, GivesBackWhatIsNotDone) {
  of(mixed);
  leased(task, {10, 5}, 0);
  leased(task, {0, 5}, 1);
  leased(task, {20, 5}, 2);
  done({{.split = 2}});
  lost({ann});
  received(ann, {{0, 25}}, 24);
  EXPECT_EQ(back(), (ranges{{2, 3}, {20, 5}})) << "whatever a reader has";
  EXPECT_EQ(losses(), (iteration_losses{.reread = 8, .repeated = 8}));
}

TEST_F(RereadHistory, ForgetsWhatIsDone) {
  leased(task, {10, 5}, 0);
  leased(task, {0, 5}, 1);
  done({{.split = 4, .through = true}});
  EXPECT_EQ(x.records(), 2u) << "the task, and its answers";
  leased(task, {5, 5}, 2);
  done({{.split = 12}});
  lost({});
  EXPECT_EQ(back(), (ranges{{5, 5}})) << "a place that is not known says nothing";
}

TEST_F(RereadHistory, TakesEarlierPassesForDone) {
  leased(task, {0, 5}, 0);
  x.apply(split_assigner::fact{split_assigner::leased_to{task, 0, 1, 0, split_range{0, 5}}});
  done({{.pass = 1}});
  lost({});
  const auto known = x.settle().value().back;
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].pass, 1u);
}

TEST_F(RereadHistory, TakesAGroupForDoneWhenAllItsSourcesAre) {
  auto plan = one_source(numbers);
  plan.sources.push_back({.splits = 100});
  x = lease_history{plan, delivery_guarantee::at_least_once};
  for (uint32_t source : {0, 1})
    x.apply(split_assigner::fact{split_assigner::leased_to{task, source, 0, 0, split_range{0, 9}}});
  done({{.source = 0, .split = 7}});
  EXPECT_FALSE(x.settle());
  done({{.source = 0, .split = 7}, {.source = 1, .split = 3}});
  lost({});
  EXPECT_EQ(back(), (ranges{{3, 6}}));
}

TEST_F(RereadHistory, LeavesSplitsOfOneRowToAReaderThatHasThem) {
  leased(task, {0, 10}, 0);
  lost({ann, bob});
  received(ann, {{0, 3}});
  split_receipt said{.task = task, .reached = {{0, 0, {3, 4}}}, .given_back = 1};
  x.apply(lease_history::received{bob, said});
  EXPECT_EQ(back(), (ranges{{3, 4}, {7, 3}})) << "which of his rows went back bob does not say";
  EXPECT_EQ(losses(), (iteration_losses{.reread = 7, .repeated = 4}));
}

TEST_F(RereadHistory, LeavesSplitsOfOneRowToAReaderThatNamesNoneThatWentBack) {
  leased(task, {0, 10}, 0);
  lost({ann});
  split_receipt said{
    .task = task, .reached = {{0, 0, {3, 4}}}, .given_back = 1, .without_given_back = true};
  x.apply(lease_history::received{ann, said});
  EXPECT_EQ(back(), (ranges{{0, 3}, {7, 3}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 6}));
}

TEST_F(RereadHistory, GivesBackWhatAReaderGotOfAFile) {
  of(files);
  leased(task, {0, 10}, 0);
  lost({ann});
  received(ann, {{0, 4}}, 3);
  EXPECT_EQ(back(), (ranges{{0, 4}, {4, 6}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 10, .repeated = 4}));
}

TEST_F(RereadHistory, GivesBackWhatAReaderMayHaveGotThatDiedWithTheTask) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::unheard{ann, 4});
  lost({bob});
  x.apply(lease_history::unheard{bob, 5});
  EXPECT_EQ(back(), (ranges{{0, 10}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 10, .repeated = 10}));
}

TEST_F(RereadHistory, RemembersOfALostTaskWhatItsReadersHold) {
  leased(task, {0, 10}, 0);
  lost({ann});
  received(ann, {{2, 3}});
  const auto known = x.settle().value();
  EXPECT_EQ(back(), (ranges{{0, 2}, {5, 5}}));
  x.apply(lease_history::kept{task});
  for (const auto& one : known.back) x.apply(split_assigner::fact{one});
  gone();
  x.apply(known.outcome);
  EXPECT_FALSE(x.unsettled());
  EXPECT_EQ(again(), (ranges{{2, 3}}));
  x.apply(x.read_again(task)->outcome);
  EXPECT_EQ(x.losses(), (iteration_losses{.reread = 10, .repeated = 3}));
  EXPECT_EQ(x.records(), 0u);
}

TEST_F(RereadHistory, RemembersOfATaskThatLeftWhatItDidNotGiveBack) {
  leased(task, {0, 10}, 0);
  x.apply(lease_history::kept{task});
  x.apply(split_assigner::fact{split_assigner::returned{0, 0, {6, 4}}});
  gone();
  EXPECT_EQ(again(), (ranges{{0, 6}}));
  x.apply(lease_history::released{task, {}});
  EXPECT_FALSE(x.read_again(task));
  EXPECT_EQ(x.records(), 0u);
}

TEST_F(RereadHistory, CountsAsLostWhatItHadNoRoomFor) {
  for (uint64_t i = 0; i < lease_history::most_leases + 5; ++i) leased(task, {2 * i, 1}, i);
  lost({});
  EXPECT_EQ(losses().splits, 5u);
  EXPECT_EQ(losses().tasks, 1u);
}

TEST_F(LeaseHistory, RemembersOnlySoMany) {
  for (uint64_t i = 0; i < 2 * lease_history::most_leases; ++i) leased(task, {2 * i, 1}, i);
  EXPECT_LE(x.records(), lease_history::most_leases + 2);
}

TEST_F(LeaseHistory, RemembersLessOfEachOfManyTasks) {
  constexpr uint64_t tasks = 32;
  for (uint64_t i = 0; i < 2 * tasks * lease_history::least_leases; ++i)
    leased(task_id{i % tasks + 1}, {2 * i, 1}, i / tasks);
  EXPECT_LE(x.records(), tasks * (lease_history::least_leases + 2));
}

TEST_F(LeaseHistory, KnowsTheVeryLastPass) {
  for (uint64_t pass : {UINT64_MAX - 5, UINT64_MAX})
    x.apply(split_assigner::fact{split_assigner::leased_to{task, 0, pass, 0, split_range{0, 1}}});
  EXPECT_TRUE(x.has(task));
  EXPECT_EQ(x.records(), 4u) << "the task, two leases and an answer";
}

} // namespace
} // namespace headrace::detail::test
