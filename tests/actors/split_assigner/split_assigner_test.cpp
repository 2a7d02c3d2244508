#include "headrace/actors/job/splits/split_assigner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace headrace::detail {
namespace {

constexpr task_id a{1};
constexpr task_id b{2};

split_plan plan_of(std::vector<source_splits> sources) {
  split_plan out;
  for (const auto& s : sources) out.groups = std::max(out.groups, s.group + 1);
  out.sources = std::move(sources);
  return out;
}

split_plan one_source(std::optional<uint64_t> splits) { return plan_of({{.splits = splits}}); }

struct outcome {
  bool wait = false;
  std::optional<split_range> splits;
};

/// Lets the assigner decide on a request, and applies the facts, as a job does. The facts are also
/// added to `facts` if it is not null.
outcome lease(split_assigner& core, const lease_request& wanted, const std::set<task_id>& blocked,
              time_point now, std::vector<split_assigner::fact>* facts = nullptr) {
  const auto apply = [&](const split_assigner::fact& x) {
    core.apply(x);
    if (facts != nullptr)
      facts->push_back(x);
  };
  if (auto news = core.note(wanted))
    apply(*news);
  EXPECT_EQ(core.note(wanted), std::nullopt) << "said twice";
  const auto given = core.decide(wanted, blocked, now);
  if (given.empty())
    return {true, {}};
  for (const auto& one : given) apply(one);
  core.keep_pace(given, now);
  return {false, given.front().splits.splits};
}

/// An assigner that tasks ask for splits at a steady pace: `step` passes before each question.
class leasing {
public:
  explicit leasing(const split_plan& plan, size_t tasks = 1) : core(plan) {
    core.apply(split_assigner::shared_by{tasks});
  }
  outcome ask(task_id who, uint32_t source = 0, uint64_t pass = 0,
              std::optional<uint64_t> total = {}) {
    now += step;
    return lease(core, {who, source, pass, total}, blocked, now);
  }
  /// The sizes of the task's leases until it must wait or the pass is over.
  std::vector<uint64_t> sizes(task_id who) {
    std::vector<uint64_t> out;
    for (;;) {
      const auto got = ask(who);
      if (got.wait || !got.splits)
        return out;
      out.push_back(got.splits->count);
    }
  }
  split_assigner core;
  std::set<task_id> blocked;
  time_point now{};
  duration step = std::chrono::microseconds{10};
};

TEST(SplitAssigner, StartsWithOneSplitAndGrowsEightfoldWhileATaskIsFast) {
  leasing x{one_source(1'000'000'000), 2};
  const auto sizes = x.sizes(a);
  EXPECT_EQ((std::vector<uint64_t>{sizes.begin(), sizes.begin() + 4}),
            (std::vector<uint64_t>{1, 8, 64, 512}));
  EXPECT_LT(sizes.size(), 120u) << "few leases for many splits";
}

TEST(SplitAssigner, LeasesAtMostAQuarterOfTheRestToOneOfTwoTasksAndOneAtLast) {
  leasing x{one_source(1000), 2};
  x.step = std::chrono::milliseconds{20}; // between two questions, whatever the size of the lease
  uint64_t left = 1000;
  const auto sizes = x.sizes(a);
  for (auto n : sizes) {
    EXPECT_LE(n, (left + 3) / 4);
    left -= n;
  }
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(sizes.back(), 1u);
}

TEST(SplitAssigner, SharesOutNoFurtherWhatIsReadInNoTime) {
  leasing x{one_source(100'000), 2};
  x.step = split_assigner::least_lease_time; // between two questions
  const auto sizes = x.sizes(a);
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  EXPECT_TRUE(std::all_of(largest, sizes.end() - 1, [&](auto n) { return n == *largest; }));
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}), 100'000u);
}

TEST(SplitAssigner, LeasesNoMoreThanATaskReadsInTheLeaseTime) {
  leasing x{one_source(1'000'000)};
  x.step = std::chrono::milliseconds{50}; // for one split, so two take the lease time
  EXPECT_EQ(x.ask(a).splits->count, 1u);
  EXPECT_EQ(x.ask(a).splits->count, 2u);
  x.step = std::chrono::milliseconds{400}; // the task has become slower
  EXPECT_EQ(x.ask(a).splits->count, 1u);
}

TEST(SplitAssigner, LeasesOneByOneUntilTheTotalIsKnown) {
  leasing x{one_source({})};
  EXPECT_EQ(x.ask(a).splits, (split_range{0, 1}));
  EXPECT_EQ(x.ask(a).splits, (split_range{1, 1}));
  EXPECT_EQ(x.ask(a, 0, 0, 3).splits, (split_range{2, 1}));
  EXPECT_EQ(x.ask(a, 0, 0, 3).splits, std::nullopt);
}

TEST(SplitAssigner, TellsTheEndOnlyWhenNoOtherTaskHasUnreadSplits) {
  leasing x{one_source(2), 2};
  EXPECT_TRUE(x.ask(a).splits);
  EXPECT_TRUE(x.ask(b).splits);
  EXPECT_TRUE(x.ask(a).wait);
  x.blocked = {a}; // the task a waits
  auto last = x.ask(b);
  EXPECT_FALSE(last.wait);
  EXPECT_FALSE(last.splits);
  last = x.ask(a);
  EXPECT_FALSE(last.wait);
  EXPECT_FALSE(last.splits);
}

TEST(SplitAssigner, DoesNotWaitForATaskThatIsGone) {
  leasing x{one_source(2), 2};
  EXPECT_TRUE(x.ask(a).splits);
  EXPECT_TRUE(x.ask(b).splits);
  EXPECT_TRUE(x.ask(a).wait);
  x.core.apply(split_assigner::task_gone{b});
  EXPECT_FALSE(x.ask(a).wait);
}

/// A task's question with its number.
lease_request numbered(task_id who, uint64_t number) { return {who, 0, 0, {}, number}; }

TEST(SplitAssigner, LeasesAgainWhatATaskGivesBackBeforeThePassIsOver) {
  split_assigner core{one_source(100)};
  core.apply(split_assigner::shared_by{2});
  time_point now{};
  uint64_t number = 0;
  split_range held{};
  while (held.count < 4) held = *lease(core, numbered(a, number++), {}, now).splits;
  uint64_t read = core.leased() - held.count;
  uint64_t others = 0;
  outcome got;
  for (; !(got = lease(core, numbered(b, others), {b}, now)).wait; ++others)
    read += got.splits->count;
  const auto back = core.give_back(a, {0, 0, number, {held.first + 1, held.count - 1}});
  ASSERT_EQ(back.size(), 1u);
  core.apply(back[0]);
  core.apply(split_assigner::task_gone{a});
  while (got = lease(core, numbered(b, others++), {b}, now), got.splits) {
    EXPECT_GT(got.splits->first, held.first);
    EXPECT_LT(got.splits->first, held.first + held.count);
    read += got.splits->count;
  }
  EXPECT_FALSE(got.wait);
  EXPECT_EQ(read, 99u) << "all but the one that was read";
}

TEST(SplitAssigner, TakesBackAWholeLeaseThatWasNotHeardOf) {
  split_assigner core{one_source(100)};
  const auto given = *lease(core, numbered(a, 0), {}, {}).splits;
  EXPECT_EQ(core.give_back(a, {0, 0, 0, {}}), (std::vector{split_assigner::returned{0, 0, given}}));
}

TEST(SplitAssigner, TakesNothingBackThatItDidNotLeaseLast) {
  split_assigner core{one_source(100)};
  lease(core, numbered(a, 0), {}, {});
  const auto given = *lease(core, numbered(a, 1), {}, {}).splits;
  EXPECT_EQ(core.give_back(a, {0, 0, 1, {0, 1}}).size(), 1u) << "the second is unheard of";
  EXPECT_TRUE(core.give_back(a, {0, 0, 2, {}}).empty()) << "all is read";
  EXPECT_TRUE(core.give_back(a, {0, 0, 2, {given.first, given.count + 1}}).empty());
  EXPECT_TRUE(core.give_back(a, {0, 0, 2, {given.first + 1, given.count}}).empty());
  EXPECT_TRUE(core.give_back(a, {0, 0, 3, given}).empty());
  EXPECT_TRUE(core.give_back(a, {0, 1, 2, given}).empty()) << "another pass";
  EXPECT_TRUE(core.give_back(a, {1, 0, 2, given}).empty()) << "another source";
  EXPECT_TRUE(core.give_back(b, {0, 0, 2, given}).empty()) << "another task";
}

TEST(SplitAssigner, TakesBackFromATaskThatLeavesWhatItDoesNotKnowOf) {
  split_assigner core{one_source(1)};
  const auto given = *lease(core, numbered(a, 0), {}, {}).splits;
  EXPECT_FALSE(lease(core, numbered(a, 1), {}, {}).splits) << "the pass is over";
  EXPECT_TRUE(core.leave(a, {0, 0, 1, {}}).empty());
  const auto next = *lease(core, {a, 0, 1, {}, 0}, {}, {}).splits;
  EXPECT_EQ(given, next);
  EXPECT_EQ(core.leave(a, {0, 0, 2, {}}), (std::vector{split_assigner::returned{0, 1, next}}))
    << "of a later pass";
  EXPECT_EQ(core.leave(a, {0, 1, 0, {}}), (std::vector{split_assigner::returned{0, 1, next}}));
  EXPECT_TRUE(core.leave(a, {0, 1, 1, {}}).empty()) << "it has read it";
  EXPECT_TRUE(core.leave(a, {0, 2, 0, {}}).empty()) << "it was answered nothing of that pass";
  EXPECT_TRUE(core.leave(b, {0, 0, 0, {}}).empty()) << "another task";
}

TEST(SplitAssigner, LeasesAlignedSourcesAsEqualRangesUpToTheShorterTotal) {
  leasing x{plan_of({{.splits = 40, .zipped = true}, {.splits = 30, .zipped = true}}), 2};
  uint64_t read = 0;
  for (;;) {
    const auto first = x.ask(a, 0).splits;
    if (!first)
      break;
    EXPECT_EQ(x.ask(a, 1).splits, first);
    read += first->count;
    const auto other = x.ask(b, 1).splits;
    if (other) {
      EXPECT_EQ(x.ask(b, 0).splits, other);
      read += other->count;
    }
    x.blocked = {b};
  }
  EXPECT_EQ(read, 30u);
}

TEST(SplitAssigner, EndsSourcesThatAdvanceTogetherWhereOneShowsToBeShorter) {
  leasing x{plan_of({{.splits = 211, .zipped = true}, {.zipped = true}})};
  uint64_t leased = 0;
  while (leased < 36) leased += x.ask(a, 0).splits->count;
  uint64_t read = 0;
  while (const auto got = x.ask(a, 1, 0, 20).splits) {
    EXPECT_LE(got->first + got->count, 20u);
    read += got->count;
  }
  EXPECT_EQ(read, 20u);
  x.core.apply(split_assigner::returned{0, 0, {3, 2}});
  EXPECT_FALSE(x.ask(a, 0).splits) << "out of step";
}

TEST(SplitAssigner, LeasesZippedSourcesThatAreNotAlignedInPiecesOfEight) {
  leasing x{plan_of({{.splits = 10'000, .group = 0, .zipped = true},
                     {.splits = 10'000, .group = 1, .zipped = true}})};
  for (auto n : x.sizes(a)) EXPECT_LE(n, 8u);
}

TEST(SplitAssigner, DoesNotWaitForAPassThatATaskLeftUnread) {
  leasing x{plan_of({{.splits = 100, .group = 0, .zipped = true},
                     {.splits = 2, .group = 1, .zipped = true}}),
            2};
  EXPECT_TRUE(x.ask(a, 0).splits);
  while (x.ask(b, 0).splits) {
  }
  EXPECT_TRUE(x.ask(b, 0).wait) << "a holds a split";
  EXPECT_TRUE(x.ask(a, 0, 1).splits) << "its zip ended with the other source";
  EXPECT_FALSE(x.ask(b, 0).wait);
}

TEST(SplitAssigner, CountsPassesApart) {
  leasing x{one_source(1)};
  for (uint64_t pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(x.ask(a, 0, pass).splits, (split_range{0, 1}));
    EXPECT_EQ(x.ask(a, 0, pass).splits, std::nullopt);
  }
}

TEST(SplitAssigner, TellsALateTaskThatForgottenPassesAreOver) {
  leasing x{one_source(3)};
  for (uint64_t pass = 0; pass < 1000; ++pass)
    while (x.ask(a, 0, pass).splits) {
    }
  EXPECT_LT(x.core.records(), 10u);
  const auto late = x.ask(b, 0, 500);
  EXPECT_FALSE(late.wait);
  EXPECT_FALSE(late.splits);
}

TEST(SplitAssigner, DoesNotLeaseAPassAgainWhoseReaderDied) {
  leasing x{one_source(1), 2};
  while (x.ask(a).splits) {
  }
  EXPECT_TRUE(x.ask(a, 0, 1).splits);
  EXPECT_FALSE(x.ask(b, 0, 0).splits);
  x.core.apply(split_assigner::task_gone{a});
  EXPECT_FALSE(x.ask(b, 0, 0).splits);
}

TEST(SplitAssigner, AnswersAQuestionThatIsPutAgainAsBefore) {
  leasing x{one_source(5), 2};
  const auto put = [&](task_id who, uint64_t pass, uint64_t number) {
    return lease(x.core, {who, 0, pass, {}, number}, x.blocked, x.now).splits;
  };
  const auto first = put(a, 0, 1);
  EXPECT_EQ(put(a, 0, 1), first);
  EXPECT_NE(put(b, 0, 1), first);
  uint64_t number = 1;
  while (put(a, 0, ++number)) EXPECT_EQ(put(a, 0, number), put(a, 0, number));
  EXPECT_EQ(put(a, 0, number), std::nullopt);
  EXPECT_EQ(x.core.leased(), 5u);
  EXPECT_TRUE(put(a, 1, 1)) << "the next pass counts from one again";
}

TEST(SplitAssigner, RemembersNothingOfSingleSplits) {
  leasing x{one_source(1'000'000)};
  x.step = std::chrono::seconds{1}; // so slow that every lease is one split
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(x.ask(a).splits->count, 1u);
  EXPECT_LT(x.core.records(), 10u);
}

/// Task a waits for splits of source 0, whose only split was leased to task b. Task a has unread
/// splits of source 1. Task b has read both sources to their ends.
class crossed : public testing::Test {
protected:
  crossed() : core(plan_of({{.splits = 1, .group = 0}, {.splits = 40, .group = 1}})) {
    core.apply(split_assigner::shared_by{2});
    while (rest.count < 2) rest = *ask(a, 1, questions_of_a++).splits;
    EXPECT_TRUE(ask(b, 0, 0).splits);
    EXPECT_TRUE(ask(a, 0, 0).wait) << "b has the other source";
    for (uint64_t number = 0;; ++number) {
      const auto got = ask(b, 1, number, {a, b});
      EXPECT_FALSE(got.wait);
      if (!got.splits)
        break;
      EXPECT_LT(got.splits->first, 40u);
    }
    EXPECT_FALSE(ask(b, 0, 1, {a, b}).splits);
  }
  outcome ask(task_id who, uint32_t source, uint64_t number, const std::set<task_id>& blocked = {},
              uint64_t pass = 0) {
    return lease(core, {who, source, pass, {}, number}, blocked, {});
  }
  /// a leaves, and b finishes its reading.
  void end_both() {
    const auto back = core.give_back(a, {1, 0, questions_of_a, rest});
    ASSERT_EQ(back.size(), 1u);
    EXPECT_FALSE(core.has_rest());
    core.apply(back[0]);
    core.apply(split_assigner::task_gone{a});
    core.apply(split_assigner::task_gone{b});
    EXPECT_TRUE(core.has_rest());
  }

  split_assigner core;
  split_range rest;
  uint64_t questions_of_a = 0;
};

TEST_F(crossed, WhatComesBackAfterAllWereToldTheEndIsForALaterTask) {
  end_both();
  constexpr task_id c{3};
  core.apply(split_assigner::shared_by{1});
  EXPECT_FALSE(ask(c, 0, 0).splits);
  uint64_t read = 0;
  outcome got;
  for (uint64_t number = 0; got = ask(c, 1, number), got.splits; ++number) {
    EXPECT_GE(got.splits->first, rest.first);
    EXPECT_LE(got.splits->first + got.splits->count, rest.first + rest.count);
    read += got.splits->count;
  }
  EXPECT_FALSE(got.wait);
  EXPECT_EQ(read, rest.count);
  EXPECT_FALSE(core.has_rest());
  EXPECT_FALSE(ask(task_id{4}, 1, 0).splits);
}

TEST_F(crossed, WhatComesBackOfAPassDoesNotHoldUpThePassesAfterIt) {
  // b continues, and is the only task.
  const auto back = core.give_back(a, {1, 0, questions_of_a, rest});
  ASSERT_EQ(back.size(), 1u);
  core.apply(back[0]);
  core.apply(split_assigner::task_gone{a});
  core.apply(split_assigner::shared_by{1});
  for (uint64_t pass = 1; pass < 1'000; ++pass)
    for (uint32_t source : {0, 1})
      for (uint64_t number = 0; ask(b, source, number, {}, pass).splits; ++number) {
      }
  EXPECT_LT(core.records(), 20u);
  EXPECT_TRUE(core.has_rest());
  constexpr task_id late{3};
  uint64_t read = 0;
  for (uint64_t number = 0;; ++number) {
    const auto got = ask(late, 1, number);
    if (!got.splits)
      break;
    read += got.splits->count;
  }
  EXPECT_EQ(read, rest.count);
  EXPECT_FALSE(ask(late, 1, 0, {}, 1).splits) << "that pass is over for all";
  EXPECT_LT(core.records(), 20u);
}

} // namespace
} // namespace headrace::detail
