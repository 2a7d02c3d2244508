#include "headrace/actors/job/splits/split_assigner.hpp"

#include <gtest/gtest.h>

// Splits that were returned in many separate runs are leased many runs at a time.

namespace headrace::detail::test {
namespace {

constexpr task_id lost{1}, a{2};

class SplitPieces : public testing::Test {
protected:
  static split_plan two_together() {
    split_plan out;
    out.sources.resize(2);
    for (auto& source : out.sources) source.splits = splits;
    out.groups = 1;
    return out;
  }
  static split_plan alone() {
    auto out = two_together();
    out.sources.pop_back();
    return out;
  }

  /// Leases all splits to one task, which is then lost: every second split is returned.
  void lose(const split_plan& plan) {
    core = split_assigner{plan};
    for (uint32_t source = 0; source < plan.sources.size(); ++source) {
      core.apply(split_assigner::came_to{lost, source, 0, {}});
      core.apply(split_assigner::leased_to{lost, source, 0, 0, split_range{0, splits}});
    }
    for (uint64_t i = 0; i < splits; i += 2) core.apply(split_assigner::returned{0, 0, {i, 1}});
    core.apply(split_assigner::task_gone{lost});
  }
  std::vector<split_assigner::leased_to> ask(uint64_t number, uint32_t source = 0) {
    const lease_request wanted{a, source, 0, {}, number};
    if (const auto news = core.note(wanted))
      core.apply(*news);
    now += std::chrono::microseconds{100};
    auto out = core.decide(wanted, {}, now);
    EXPECT_EQ(out, core.decide(wanted, {}, now));
    for (const auto& one : out) core.apply(one);
    core.keep_pace(out, now);
    return out;
  }

  static constexpr uint64_t splits = 20'000;
  split_assigner core{alone()};
  time_point now{};
};

TEST_F(SplitPieces, TakeFewQuestionsThoughEachIsOneSplit) {
  lose(alone());
  uint64_t next = 0, questions = 0;
  for (uint64_t number = 0;; ++questions) {
    const auto given = ask(number);
    ASSERT_FALSE(given.empty());
    ASSERT_LE(given.size(), split_assigner::most_pieces);
    if (!given[0].splits)
      break;
    for (const auto& one : given) {
      EXPECT_EQ(one.number, number++);
      EXPECT_EQ(one.continues, one != given[0]);
      EXPECT_EQ(*one.splits.splits, (split_range{next, 1}));
      next += 2;
    }
  }
  EXPECT_EQ(next, splits);
  EXPECT_LT(questions, 100u) << "for 10,000 pieces";
}

TEST_F(SplitPieces, AreAnsweredTheSameWhenTheQuestionIsPutAgain) {
  lose(alone());
  ask(0);
  const auto given = ask(1);
  ASSERT_GT(given.size(), 2u);
  EXPECT_EQ(ask(1), given);
  EXPECT_EQ(core.leased(), 1 + given.size() + splits / 2) << "nothing was leased twice";
}

TEST_F(SplitPieces, ComeBackFromWhereATaskHasNotCome) {
  lose(alone());
  ask(0);
  const auto given = ask(1);
  ASSERT_EQ(given.size(), 8u);
  const auto back = core.give_back(a, {0, 0, 4, {}});
  ASSERT_EQ(back.size(), 5u) << "three of them were begun";
  for (size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i].splits, *given[i + 3].splits.splits);
  EXPECT_EQ(core.give_back(a, {0, 0, 1, {}}).size(), 8u) << "the answer was not heard";
  EXPECT_TRUE(core.give_back(a, {0, 0, 9, {}}).empty());
}

TEST_F(SplitPieces, AreTheSameForSourcesThatAdvanceTogether) {
  lose(two_together());
  for (uint64_t number = 0; number < 500;) {
    const auto first = ask(number, 0);
    const auto second = ask(number, 1);
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].splits, second[i].splits);
    number += first.size();
  }
}

} // namespace
} // namespace headrace::detail::test
