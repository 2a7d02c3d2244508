#include "headrace/actors/job/splits/waiting_leases.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

constexpr task_id a{1}, b{2}, c{3};

/// Three tasks over a zip of two sources that do not advance together. Each lease is one split.
class WaitingLeases : public testing::Test {
protected:
  static split_plan zip_of(uint64_t first, uint64_t second) {
    split_plan out;
    out.sources = {{.splits = first, .group = 0, .zipped = true},
                   {.splits = second, .group = 1, .zipped = true, .behind = 1}};
    out.groups = 2;
    return out;
  }
  explicit WaitingLeases(const split_plan& plan = zip_of(3, 3)) : splits(plan) {
    splits.apply(split_assigner::shared_by{3});
  }
  /// The task sends its next question about the source. Then all waiting questions that can be
  /// answered are answered, as a job does.
  void ask(task_id who, uint32_t source) {
    const lease_request wanted{who, source, 0, {}, asked[{who, source}]++};
    if (const auto news = splits.note(wanted))
      splits.apply(*news);
    questions.push_back(wanted);
    waiting.add(wanted);
    settle();
  }
  void settle() {
    for (bool progress = true; progress;) {
      progress = false;
      for (const auto& one : std::vector{questions})
        progress |= answer(splits.decide(one, waiting.beside(one), {}));
      progress = progress || answer(waiting.give_way(splits, {}));
    }
  }
  bool answer(const std::vector<split_assigner::leased_to>& given) {
    if (given.empty())
      return false;
    for (const auto& one : given) splits.apply(one);
    const auto& first = given.front();
    std::erase_if(questions, [&](const auto& one) {
      if (one.task != first.task || one.source != first.source)
        return false;
      waiting.remove(one);
      return true;
    });
    ++(first.splits ? leased : ended)[{first.task, first.source}];
    return true;
  }
  /// The task closes the pass because its zip has ended. `rest`: the unread splits of the last
  /// lease of the source to the task.
  void close(task_id who, uint32_t source, split_range rest) {
    for (const auto& fact : splits.close(who, {source, 0, asked[{who, source}], rest}))
      splits.apply(fact);
    settle();
  }
  bool waits(task_id who) const {
    return std::ranges::any_of(questions, [&](const auto& one) { return one.task == who; });
  }

  split_assigner splits;
  waiting_leases waiting;
  std::vector<lease_request> questions;
  std::map<std::pair<task_id, uint32_t>, uint64_t> asked;
  std::map<std::pair<task_id, uint32_t>, int> leased, ended;
};

TEST_F(WaitingLeases, OneWhoWaitsForATaskThatReadsOnWaitsForThoseBehindIt) {
  ask(a, 0); // a has a row of the first source, and needs a row of the second source for it
  ask(b, 0);
  ask(c, 0);
  ask(b, 1);
  ask(b, 1);
  ask(c, 1);
  ask(b, 0); // b has a row of the second source without a partner
  EXPECT_TRUE(waits(b));
  ask(a, 1);
  EXPECT_TRUE(waits(a)) << "b waits for c, which reads on, and may come to an end";
  EXPECT_TRUE(ended.empty());
  ask(c, 0); // c has read its split of the first source, so no split is left for b
  EXPECT_EQ(ended.count({b, 0}), 1u);
  close(b, 1, {1, 1});
  EXPECT_EQ((leased[{a, 1}]), 1) << "the partner that b had no row for";
}

TEST_F(WaitingLeases, WhoHoldsNothingOfTheOtherInputsGivesWay) {
  ask(a, 0);
  ask(a, 0);
  ask(b, 0);
  ask(b, 1);
  ask(b, 1);
  ask(b, 1); // b has two rows of the second source without partners
  ask(b, 0); // b waits for a
  ask(a, 1); // a waits for b
  EXPECT_EQ(ended.count({b, 0}), 1u);
  EXPECT_TRUE(waits(a));
  close(b, 1, {2, 1});
  EXPECT_EQ((leased[{a, 1}]), 1);
}

TEST_F(WaitingLeases, ThoseWhoAskForTheSameHaveReadWhatTheyHad) {
  for (auto who : {a, b, c}) ask(who, 0);
  ask(a, 0);
  ask(b, 0);
  EXPECT_TRUE(waits(a) && waits(b));
  ask(c, 0);
  EXPECT_TRUE(questions.empty());
  EXPECT_EQ(ended.size(), 3u);
}

} // namespace
} // namespace headrace::detail::test
