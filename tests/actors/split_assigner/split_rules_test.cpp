#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

// What a task is told of passes that are over, what it gives back, and what it may not read.

namespace headrace::test {
namespace {

using testing::HasSubstr;

constexpr task_id a{1}, b{2}, c{3};

/// A job of so many tasks over one source.
class SplitRules : public testing::Test {
protected:
  explicit SplitRules(uint64_t splits = 10, int64_t passes = -1)
    : job{processing_mode::dynamic, plan_of(splits, passes)} {
    share(2);
  }
  static split_plan plan_of(uint64_t splits, int64_t passes) {
    auto out = one_source(splits);
    out.sources[0].passes = passes;
    return out;
  }
  void share(uint64_t tasks) { job.commit({{0, split_assigner::shared_by{tasks}}}); }
  /// What the task is told next; nullopt: it waits.
  std::optional<split_answer> ask(task_id who, uint64_t pass,
                                  const std::set<task_id>& blocked = {}) {
    auto given = job.ask({who, 0, pass, {}, ++asked[{who, pass}]}, blocked);
    return given ? std::optional{given->splits} : std::nullopt;
  }
  /// Reads the pass to its end.
  uint64_t drain(task_id who, uint64_t pass, const std::set<task_id>& blocked = {}) {
    uint64_t out = 0;
    for (auto given = ask(who, pass, blocked); given && *given; given = ask(who, pass, blocked))
      out += (*given)->count;
    return out;
  }
  std::vector<split_assigner::fact> close(task_id who, uint64_t pass, split_range rest) {
    auto out = job.r().splits.close(who, {0, pass, asked[{who, pass}], rest});
    for (const auto& x : out) job.commit({{0, x}});
    return out;
  }
  driven_job job;
  std::map<std::pair<task_id, uint64_t>, uint64_t> asked;
};

TEST_F(SplitRules, APassIsReadAloneUntilAnotherTaskHasAPartOfIt) {
  uint64_t read = 0;
  auto given = ask(a, 0);
  for (; *given; given = ask(a, 0)) read += (*given)->count;
  EXPECT_EQ(read, 10u);
  EXPECT_EQ(given->over, (pass_over{.alone = true}));
  ASSERT_TRUE(*ask(a, 1));
  ASSERT_TRUE(*ask(b, 1));
  for (given = ask(a, 1, {b}); *given;) given = ask(a, 1, {b});
  EXPECT_EQ(given->over, (pass_over{.alone = false}));
}

TEST_F(SplitRules, APassThatAnotherTaskHasReadWasNotReadAlone) {
  ASSERT_TRUE(*ask(b, 0));
  drain(a, 0);
  EXPECT_EQ(ask(b, 0, {a})->over, (pass_over{.alone = false}));
}

class NothingToRead : public SplitRules {
protected:
  NothingToRead() : SplitRules(0) {}
};

TEST_F(NothingToRead, IsOverForEverybodyAlone) {
  EXPECT_EQ(ask(a, 0)->over, (pass_over{.alone = true}));
  // It is forgotten, and the next one is no other.
  EXPECT_EQ(ask(b, 0)->over, (pass_over{.running = 1}));
  EXPECT_EQ(ask(b, 1)->over, (pass_over{.alone = true}));
}

TEST_F(SplitRules, ALateTaskIsToldWhichPassRuns) {
  for (uint64_t pass = 0; pass < 1'000; ++pass)
    for (auto who : {a, b}) drain(who, pass);
  ASSERT_TRUE(*ask(a, 1'000));
  share(3);
  EXPECT_EQ(ask(c, 0)->over, (pass_over{.running = 1'000}));
  EXPECT_TRUE(*ask(c, 1'000));
}

TEST_F(SplitRules, WhatAPipelineIsDoneWithIsForThoseWhoReadOn) {
  const auto given = *ask(a, 0);
  ASSERT_TRUE(given);
  ASSERT_TRUE(*ask(b, 0));
  EXPECT_EQ(drain(b, 0), 8u);
  EXPECT_EQ(ask(b, 0), std::nullopt) << "one is not read yet";
  --asked[{b, 0}];
  EXPECT_EQ(close(a, 0, *given.splits).size(), 2u);
  EXPECT_EQ(ask(b, 0)->splits, given.splits) << "it was given back";
  EXPECT_EQ(ask(b, 0)->over, (pass_over{.alone = false}));
}

TEST_F(SplitRules, ATaskThatIsDoneWithAPassKeepsNobodyWaitingForItsEnd) {
  ASSERT_TRUE(*ask(a, 0));
  drain(b, 0);
  EXPECT_EQ(ask(b, 0), std::nullopt);
  --asked[{b, 0}];
  close(a, 0, {});
  EXPECT_FALSE(*ask(b, 0)) << "it is the end";
}

TEST_F(SplitRules, ClosingAPassTwiceGivesBackNothingTwice) {
  const auto given = *ask(a, 0);
  EXPECT_EQ(close(a, 0, *given.splits).size(), 2u);
  EXPECT_TRUE(close(a, 0, *given.splits).empty());
  EXPECT_EQ(job.r().splits.give_back(a, {0, 0, 1, *given.splits}), std::nullopt)
    << "nor does its worker, when it leaves";
}

TEST_F(SplitRules, WhatAllTasksHaveLeftOfAPassIsForgottenAndMemoryStaysBounded) {
  for (uint64_t pass = 0; pass < 3'000; ++pass)
    for (auto who : {a, b}) {
      const auto given = *ask(who, pass);
      ASSERT_TRUE(given);
      close(who, pass, *given.splits);
    }
  EXPECT_LT(job.r().splits.records(), 20u);
  EXPECT_FALSE(job.r().splits.has_rest()) << "nobody is started for what pipelines did not want";
}

TEST_F(SplitRules, OneThatStaysBehindDoesNotMakeMemoryGrowForEver) {
  ASSERT_TRUE(*ask(b, 0));
  close(b, 0, {});
  for (uint64_t pass = 0; pass < 10'000; ++pass) {
    const auto given = *ask(a, pass);
    ASSERT_TRUE(given);
    close(a, pass, *given.splits);
  }
  EXPECT_LT(job.r().splits.records(), 5 * split_assigner::most_passes);
}

TEST_F(SplitRules, KnowsWhoKeepsPassesInMemory) {
  auto plan = plan_of(10, 1);
  split_assigner plain{plan};
  plan.sources[0].kept = true;
  split_assigner cached{plan};
  for (auto* x : {&plain, &cached}) {
    x->apply(split_assigner::came_to{a, 0, 0, {}});
    x->apply(split_assigner::leased_to{a, 0, 0, 1, split_range{0, 1}});
  }
  EXPECT_FALSE(plain.keeps_passes(a));
  EXPECT_TRUE(cached.keeps_passes(a));
  EXPECT_FALSE(cached.keeps_passes(b));
}

// -- listings ------------------------------------------------------------------------------

std::shared_ptr<const split_listing> listing(std::vector<std::string> entries, uint64_t digest) {
  return std::make_shared<const split_listing>(
    split_listing{digest, entries.size(), std::move(entries)});
}

TEST_F(SplitRules, TheFirstListingOfAPassHoldsForAll) {
  const lease_request first{a, 0, 0, 2, 1, listing({"a", "c"}, 1)};
  const lease_request same{b, 0, 0, 2, 1, listing({"a", "c"}, 1)};
  const lease_request other{b, 0, 0, 3, 1, listing({"a", "b", "c"}, 2)};
  ASSERT_TRUE(job.ask(first, {}));
  EXPECT_TRUE(job.r().splits.refused(same, "host:2").ok());
  const auto why = job.r().splits.refused(other, "host:2");
  EXPECT_EQ(why.code(), status_code::failed_precondition);
  EXPECT_THAT(why.message(), HasSubstr("worker host:2 finds other files for source 0"));
  EXPECT_THAT(why.message(), HasSubstr("the first that differs is c there and b here"));
  EXPECT_EQ(job.r().splits.note(other), std::nullopt) << "it says nothing of the first one's";
  const lease_request later{b, 0, 1, 3, 1, listing({"a", "b", "c"}, 2)};
  EXPECT_TRUE(job.r().splits.refused(later, "host:2").ok()) << "that is another pass";
}

TEST_F(SplitRules, AListingThatIsTooLargeIsComparedByItsDigest) {
  ASSERT_TRUE(job.ask({a, 0, 0, 2, 1, listing({}, 1)}, {}));
  EXPECT_FALSE(job.r().splits.refused({b, 0, 0, 2, 1, listing({}, 2)}, "w").ok());
}

// -- when a job is over -----------------------------------------------------------------------

class JobOfTwo : public testing::Test {
protected:
  JobOfTwo() {
    tasks =
      job.carry_out(job.r().core.consumer_joined(consumer_id{1}, {worker(1), worker(2)})).start;
    for (const auto& t : tasks) job.carry_out(job.r().core.task_started(t.id, {}));
  }
  iteration::commands ends(size_t i, bool by_itself, const job_remainder& rest) {
    return job.carry_out(
      job.r().core.task_ended(tasks[i].id, tasks[i].life, {1}, {}, rest, by_itself));
  }
  driven_job job{processing_mode::dynamic, 10};
  std::vector<iteration::task> tasks;
};

TEST_F(JobOfTwo, IsOverWhenAllTasksEndedByThemselves) {
  ends(0, true, {});
  EXPECT_FALSE(job.r().core.finished());
  ends(1, true, {});
  EXPECT_TRUE(job.r().core.finished());
}

TEST_F(JobOfTwo, IsNotOverWhenTheOnlyOneThatEndedDidSoByItself) {
  ends(0, true, {});
  auto todo = job.carry_out(job.r().core.worker_lost(worker_id{2}, {false, {worker(1)}}));
  EXPECT_FALSE(job.r().core.finished()) << "it saw no source exhausted";
  ASSERT_EQ(todo.start.size(), 1u) << "somebody is to read what the other one would have";
  job.carry_out(job.r().core.task_started(todo.start[0].id, {}));
  job.carry_out(job.r().core.task_ended(todo.start[0].id, todo.start[0].life, {1}, {},
                                        {false, {worker(1)}}, true));
  EXPECT_TRUE(job.r().core.finished());
}

TEST_F(JobOfTwo, WaitsForAWorkerIfNoneIsThereThatCouldReadOn) {
  ends(0, true, {});
  job.carry_out(job.r().core.task_left(tasks[1].id, tasks[1].life, {1}, {}));
  EXPECT_FALSE(job.r().core.finished());
  EXPECT_EQ(job.carry_out(job.r().core.worker_joined(worker(3))).start.size(), 1u);
}

TEST_F(JobOfTwo, IsOverWhenOneThatEndedSawTheSourcesExhausted) {
  ends(0, false, {});
  job.carry_out(job.r().core.worker_lost(worker_id{2}, {false, {worker(1)}}));
  EXPECT_TRUE(job.r().core.finished());
}

} // namespace
} // namespace headrace::test
