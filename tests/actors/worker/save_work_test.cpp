#include "headrace/actors/worker/save_work.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

constexpr save_id saved{7};

save_steps steps(std::vector<uint64_t> numbers) {
  save_steps out;
  for (auto n : numbers)
    out.orders.push_back({.what = {save_id{n}, "/saved", "d", "", ""}, .number = n});
  return out;
}

TEST(SaveWork, AsksWhenThereAreStepsAndOneQuestionAtATime) {
  save_work work;
  EXPECT_FALSE(work.question());
  work.offered();
  EXPECT_TRUE(work.question());
  work.offered();
  EXPECT_FALSE(work.question()) << "the first one is not answered";
  EXPECT_EQ(work.answered(steps({7})).begin.size(), 1);
  const auto next = work.question();
  ASSERT_TRUE(next) << "something was offered meanwhile";
  ASSERT_EQ(next->running.size(), 1);
  EXPECT_EQ(next->running[0], (save_question::working{saved, 7}));
}

TEST(SaveWork, RepeatsAReportUntilItIsAnswered) {
  save_work work;
  work.offered();
  work.question();
  work.answered(steps({7}));
  work.ended({saved, 7, piece_written{}});
  EXPECT_EQ(work.question()->reports.size(), 1);
  work.answered(unavailable("the dispatcher is away"));
  EXPECT_FALSE(work.question()) << "not at once";
  work.again();
  EXPECT_EQ(work.question()->reports.size(), 1);
  work.answered(save_steps{});
  work.again();
  EXPECT_FALSE(work.question());
}

TEST(SaveWork, AsksAgainWhereTheAnswerIsLostWithTheConnection) {
  save_work work;
  work.offered();
  work.question();
  work.registered();
  EXPECT_TRUE(work.question()) << "the answer may have had steps";
}

TEST(SaveWork, GivesBackWhatItWorksOnWhenItLeaves) {
  save_work work;
  work.offered();
  work.question();
  work.answered(steps({7}));
  EXPECT_EQ(work.leave(), std::vector{saved});
  const auto last = work.question();
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->takes);
  ASSERT_EQ(last->reports.size(), 1);
  EXPECT_TRUE(std::holds_alternative<step_given_back>(last->reports[0].how));
  // Steps that are assigned nevertheless are given back, too.
  EXPECT_TRUE(work.answered(steps({8})).begin.empty());
  EXPECT_EQ(work.question()->reports.size(), 1);
}

TEST(SaveWork, StopsWhatIsOverAndHearsNothingMoreOfIt) {
  save_work work;
  work.offered();
  work.question();
  work.answered(steps({7}));
  work.offered();
  work.question();
  EXPECT_EQ(work.answered(save_steps{.orders = {}, .over = {saved}}).stop, std::vector{saved});
  work.ended({saved, 7, piece_written{}});
  EXPECT_FALSE(work.question());
}

} // namespace
} // namespace headrace::detail::test
