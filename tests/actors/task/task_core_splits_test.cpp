#include "headrace/actors/task/task_core.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/stream/stream_world.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

/// A task that has one reader. The first runner of the task has begun.
class TaskSplits : public testing::Test {
protected:
  TaskSplits()
    : core({.id = task_id{1},
            .life = incarnation{1},
            .job = job_id{1},
            .policy = sharding_policy::dynamic,
            .readers = {task_id{1}, 1, {reader}}},
           make_range(0, 10).value(), {}, {}) {
    core.taken_over(now);
    core.arrived(produce::stream_key{1},
                 from_consumer{stream_open{.life = incarnation{1}, .consumer = reader}}, now);
    EXPECT_TRUE(core.runner_begins(1));
  }
  template <class Command>
  static std::vector<Command> all(const produce::commands& from) {
    std::vector<Command> out;
    for (const auto& x : from)
      if (const auto* one = std::get_if<Command>(&x))
        out.push_back(*one);
    return out;
  }
  produce::commands wants(uint64_t run, const splits_wish& what) {
    return core.splits_wanted({run, what}, now);
  }
  produce::commands answers(const split_question& which, const lease_answer& what) {
    return core.splits_answered(which, what, {});
  }

  static constexpr consumer_id reader{5};
  static constexpr split_question first{0, 0, 0};
  static constexpr split_question other{1, 0, 0};
  time_point now{std::chrono::hours{1}};
  task_core core;
};

TEST_F(TaskSplits, GivesEachOfTwoOpenQuestionsItsAnswer) {
  wants(1, {.which = first});
  wants(1, {.which = other});
  auto given = all<produce::give_splits>(answers(other, split_range{3, 1}));
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].which, other);
  given = all<produce::give_splits>(answers(first, split_range{0, 1}));
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].which, first);
  EXPECT_TRUE(answers(first, split_range{0, 1}).empty()) << "it is answered once";
}

TEST_F(TaskSplits, AnswersANewRunnerWhatAnEarlierOneWasAnswered) {
  wants(1, {.which = first});
  answers(first, split_range{0, 2});
  ASSERT_TRUE(core.runner_begins(2));
  const auto given = all<produce::give_splits>(wants(2, {.which = first}));
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(*given[0].what, (lease_answer{split_range{0, 2}}));
}

TEST_F(TaskSplits, PassesAClosingOnAndDoesNotTakeItsAnswerForTheEndOfThePass) {
  wants(1, {.which = first});
  answers(first, split_range{0, 2});
  const split_question next{0, 0, 1};
  const splits_wish closing{.which = next, .closes = unread_splits{0, 0, 1, {1, 1}}};
  const auto said = all<produce::report>(wants(1, closing));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].what.wants->wish.closes, closing.closes);
  EXPECT_EQ(all<produce::give_splits>(answers(next, lease_answer{})).size(), 1u);
  const auto start = core.runner_begins(2);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->replay.size(), 1u);
  EXPECT_EQ(all<produce::report>(wants(2, closing)).size(), 1u) << "another runner closes it again";
}

class TaskSplitsEnd : public TaskSplits, public testing::WithParamInterface<bool> {};

TEST_P(TaskSplitsEnd, SaysWhetherItsPipelineEndedByItself) {
  const auto last = all<produce::report>(core.run_ended(1, {}, GetParam(), now));
  ASSERT_EQ(last.size(), 1u);
  EXPECT_TRUE(last[0].what.ended);
  EXPECT_EQ(last[0].what.by_itself, GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, TaskSplitsEnd, testing::Bool());

/// The unread splits in the report of a task that leaves.
std::vector<unread_splits> left(const std::vector<produce::report>& said) {
  for (const auto& one : said)
    if (one.what.unread)
      return *one.what.unread;
  ADD_FAILURE() << "it did not report what is unread";
  return {};
}

TEST_F(TaskSplits, GivesBackTheAnswerThatIsUnderWayWhenItsWorkerLeavesWhileNoActorRuns) {
  wants(1, {.which = first});
  answers(first, split_range{0, 2});
  wants(1, {.which = {0, 0, 1}});
  core.leaves_between_actors();
  const auto resumed = core.taken_over(now);
  EXPECT_EQ(left(all<produce::report>(resumed)), (std::vector{unread_splits{0, 0, 1, {}}}));
  ASSERT_EQ(all<produce::start_runner>(resumed).size(), 1u) << "what is begun is finished";
  const auto start = core.runner_begins(2);
  ASSERT_TRUE(start);
  EXPECT_TRUE(start->leaving);
  EXPECT_EQ(start->replay.size(), 1u);
}

TEST_F(TaskSplits, GivesBackTheAnswerThatIsUnderWayWhenItsWorkerLeavesBeforeTheNextRunnerBegins) {
  wants(1, {.which = first});
  core.taken_over(now); // another actor takes over after a crash
  EXPECT_EQ(left(all<produce::report>(core.worker_leaves(now))),
            (std::vector{unread_splits{0, 0, 0, {}}}));
  EXPECT_TRUE(answers(first, split_range{0, 2}).empty()) << "these splits go back";
}

// -- an actor crashes, and what it was to carry out is lost ------------------------------------

TEST_F(TaskSplits, ReportsItsEndAgainWhenItsActorCrashedBeforeItWasReported) {
  const auto lost = core.run_ended(1, {}, true, now);
  ASSERT_EQ(all<produce::report>(lost).size(), 1u);
  ASSERT_TRUE(core.over());
  ASSERT_FALSE(core.torn());
  const auto again = core.taken_over(now);
  const auto said = all<produce::report>(again);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].what.ended && said[0].what.ended->ok());
  EXPECT_TRUE(said[0].what.by_itself);
  const auto ends = all<produce::send>(again);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<stream_end>(ends[0].what));
  EXPECT_EQ(all<produce::end>(again).size(), 1u);
}

TEST_F(TaskSplits, EndsAgainWhenItsActorCrashedAfterItFailed) {
  core.runner_spent(aborted("it crashed"), now);
  const auto again = core.taken_over(now);
  ASSERT_EQ(all<produce::report>(again).size(), 1u);
  EXPECT_EQ(all<produce::report>(again)[0].what.outcome, task_outcome::failed);
  EXPECT_EQ(all<produce::end>(again).size(), 1u);
}

TEST_F(TaskSplits, EndsAgainWhenItsActorCrashedAsItWasStopped) {
  core.stop("nobody reads it");
  const auto again = core.taken_over(now);
  EXPECT_TRUE(all<produce::report>(again).empty());
  EXPECT_EQ(all<produce::end>(again).size(), 1u);
}

TEST_F(TaskSplits, GivesItsUnreadSplitsBackAgainWhenItsActorCrashedBeforeItReportedThem) {
  wants(1, {.which = first});
  answers(first, split_range{0, 5});
  core.produced(1, numbers(0, 2), now);
  const std::vector<unread_splits> unread{{0, 0, 1, {2, 3}}};
  core.runner_left(unread, now);
  ASSERT_FALSE(core.over());
  const auto said = all<produce::report>(core.taken_over(now));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].what.unread, unread);
}

TEST_F(TaskSplits, LeavesWhenItsActorCrashedBeforeItsRunnerLeft) {
  wants(1, {.which = first});
  answers(first, split_range{0, 5});
  ASSERT_EQ(all<produce::leave_runner>(core.worker_leaves(now)).size(), 1u);
  const auto said = all<produce::report>(core.taken_over(now));
  ASSERT_FALSE(said.empty());
  ASSERT_TRUE(said[0].what.unread);
  EXPECT_EQ(*said[0].what.unread, (std::vector<unread_splits>{{0, 0, 1, {}}}))
    << "the next runner reads what the last one was given";
}

} // namespace
} // namespace headrace::detail::test
