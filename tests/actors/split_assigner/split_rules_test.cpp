#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

// Tests of passes that are over, of the splits that tasks give back when they close a pass, of
// listings, and of the end of a job.

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

constexpr task_id a{1}, b{2}, c{3};

/// Two tasks over one source.
class SplitRules : public testing::Test {
protected:
  explicit SplitRules(uint64_t splits = 10, int64_t passes = -1) : core(plan_of(splits, passes)) {
    share(2);
  }
  static split_plan plan_of(uint64_t splits, int64_t passes) {
    auto out = one_source(splits);
    out.sources[0].passes = passes;
    return out;
  }
  void share(uint64_t tasks) { core.apply(split_assigner::shared_by{tasks}); }
  std::optional<split_answer> put(const lease_request& wanted,
                                  const std::set<task_id>& blocked = {}) {
    if (const auto news = core.note(wanted))
      core.apply(*news);
    now += std::chrono::microseconds{10};
    const auto given = core.decide(wanted, blocked, now);
    if (given.empty())
      return {};
    for (const auto& one : given) core.apply(one);
    core.keep_pace(given, now);
    return given.front().splits;
  }
  /// The next answer to the task; nullopt: the task must wait.
  std::optional<split_answer> ask(task_id who, uint64_t pass,
                                  const std::set<task_id>& blocked = {}) {
    return put({who, 0, pass, {}, asked[{who, pass}]++}, blocked);
  }
  /// The task sends questions until the pass is over or it must wait. Returns the number of splits
  /// that it was leased.
  uint64_t drain(task_id who, uint64_t pass, const std::set<task_id>& blocked = {}) {
    uint64_t out = 0;
    for (auto given = ask(who, pass, blocked); given && *given; given = ask(who, pass, blocked))
      out += (*given)->count;
    return out;
  }
  std::vector<split_assigner::fact> close(task_id who, uint64_t pass, split_range rest) {
    auto out = core.close(who, {0, pass, asked[{who, pass}], rest});
    for (const auto& x : out) core.apply(x);
    return out;
  }

  split_assigner core;
  time_point now{};
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
  // The pass is forgotten, and the question of task b does not count as a repetition of the
  // question of task a.
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
  EXPECT_TRUE(core.give_back(a, {0, 0, 1, *given.splits}).empty())
    << "nor does its worker, when it leaves";
}

TEST_F(SplitRules, WhatAllTasksHaveLeftOfAPassIsForgottenAndMemoryStaysBounded) {
  for (uint64_t pass = 0; pass < 3'000; ++pass)
    for (auto who : {a, b}) {
      const auto given = *ask(who, pass);
      ASSERT_TRUE(given);
      close(who, pass, *given.splits);
    }
  EXPECT_LT(core.records(), 20u);
  EXPECT_FALSE(core.has_rest()) << "nobody is started for what pipelines did not want";
}

TEST_F(SplitRules, OneThatStaysBehindDoesNotMakeMemoryGrowForEver) {
  ASSERT_TRUE(*ask(b, 0));
  close(b, 0, {});
  for (uint64_t pass = 0; pass < 10'000; ++pass) {
    const auto given = *ask(a, pass);
    ASSERT_TRUE(given);
    close(a, pass, *given.splits);
  }
  EXPECT_LT(core.records(), 5 * split_assigner::most_passes);
}

TEST_F(SplitRules, KnowsWhoKeepsPassesInMemory) {
  auto plan = plan_of(10, 1);
  split_assigner plain{plan};
  plan.sources[0].kept = true;
  split_assigner cached{plan};
  for (auto* x : {&plain, &cached}) {
    x->apply(split_assigner::came_to{a, 0, 0, {}});
    x->apply(split_assigner::leased_to{a, 0, 0, 0, split_range{0, 1}});
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
  const lease_request first{a, 0, 0, 2, 0, listing({"a", "c"}, 1)};
  const lease_request same{b, 0, 0, 2, 0, listing({"a", "c"}, 1)};
  const lease_request other{b, 0, 0, 3, 0, listing({"a", "b", "c"}, 2)};
  ASSERT_TRUE(put(first));
  EXPECT_TRUE(core.refused(same, "host:2").ok());
  const auto why = core.refused(other, "host:2");
  EXPECT_EQ(why.code(), status_code::failed_precondition);
  EXPECT_THAT(why.message(), HasSubstr("worker host:2 finds other files for source 0"));
  EXPECT_THAT(why.message(), HasSubstr("the first that differs is c there and b here"));
  EXPECT_EQ(core.note(other), std::nullopt) << "it says nothing of the first one's";
  const lease_request later{b, 0, 1, 3, 0, listing({"a", "b", "c"}, 2)};
  EXPECT_TRUE(core.refused(later, "host:2").ok()) << "that is another pass";
}

TEST_F(SplitRules, AListingThatIsTooLargeIsComparedByItsDigest) {
  ASSERT_TRUE(put({a, 0, 0, 2, 0, listing({}, 1)}));
  EXPECT_FALSE(core.refused({b, 0, 0, 2, 0, listing({}, 2)}, "w").ok());
}

// -- the end of a job -------------------------------------------------------------------------

class JobOfTwo : public testing::Test {
protected:
  JobOfTwo() : starts(job.open(1).starts) {
    for (const auto& x : starts) job.started(x);
  }
  job_outcome ends(const job_command::start_task& which, bool by_itself) {
    return job.ended(which.what, {}, by_itself);
  }
  driven_job job{sharding_policy::dynamic, 10, {worker(1), worker(2)}};
  std::vector<job_command::start_task> starts;
};

TEST_F(JobOfTwo, IsOverWhenAllTasksEndedByThemselves) {
  ends(starts[0], true);
  EXPECT_FALSE(job.state().finished());
  ends(starts[1], true);
  EXPECT_TRUE(job.state().finished());
}

TEST_F(JobOfTwo, IsNotOverWhenTheOnlyOneThatEndedDidSoByItself) {
  ends(starts[0], true);
  const auto out = job.lost(worker_id{2});
  EXPECT_FALSE(job.state().finished()) << "it saw no source exhausted";
  ASSERT_EQ(out.starts.size(), 1u) << "somebody is to read what the other one would have";
  job.started(out.starts[0]);
  ends(out.starts[0], true);
  EXPECT_TRUE(job.state().finished());
}

TEST_F(JobOfTwo, WaitsForAWorkerIfNoneIsThereThatCouldReadOn) {
  ends(starts[0], true);
  job.lost(worker_id{1});
  job.lost(worker_id{2});
  EXPECT_FALSE(job.state().finished());
  EXPECT_EQ(job.came(worker(3)).starts.size(), 1u);
}

TEST_F(JobOfTwo, IsOverWhenOneThatEndedSawTheSourcesExhausted) {
  ends(starts[0], false);
  job.lost(worker_id{2});
  EXPECT_TRUE(job.state().finished());
}

TEST_F(JobOfTwo, GivesWhatAPipelineIsDoneWithToTheOtherOne) {
  const auto& [first, second] = std::tie(starts[0].what, starts[1].what);
  const auto held = job.ask(first, {0, 0, 0})->splits.value();
  uint64_t number = 0;
  while (job.ask(second, {0, 0, number})) ++number;
  const auto waits = job.last_token;
  const splits_request close{.task = first.id,
                             .life = first.life,
                             .wish = {.which = {0, 0, 1}, .closes = unread_splits{0, 0, 1, held}}};
  const auto out = job.ask(close);
  EXPECT_EQ(std::get<status>(out.answers.at(job.last_token)), status{});
  EXPECT_EQ(std::get<lease_answer>(out.answers.at(waits)), lease_answer{held});
  EXPECT_TRUE(job.ask(close).stored.empty()) << "said twice, it means nothing";
}

TEST_F(JobOfTwo, KeepsAQuestionAboutALaterPassWhenAClosingIsRepeated) {
  const auto& first = starts[0].what;
  const auto held = job.ask(first, {0, 0, 0})->splits.value();
  const splits_request close{.task = first.id,
                             .life = first.life,
                             .wish = {.which = {0, 0, 1}, .closes = unread_splits{0, 0, 1, held}}};
  job.ask(close);
  uint64_t number = 0;
  for (auto given = job.ask(starts[1].what, {0, 1, 0}); given;
       given = job.ask(first, {0, 1, number++})) {
  }
  const auto waits = job.last_token;
  EXPECT_FALSE(job.ask(close).answers.contains(waits));
}

TEST_F(JobOfTwo, LearnsFromTheEndOfATaskWhatWasClosed) {
  const auto& [first, second] = std::tie(starts[0].what, starts[1].what);
  const auto held = job.ask(first, {0, 0, 0})->splits.value();
  uint64_t number = 0;
  while (job.ask(second, {0, 0, number})) ++number;
  const auto waits = job.last_token;
  const auto out = job.ended(first, {}, true, {{0, 0, 1, held}});
  EXPECT_EQ(std::get<lease_answer>(out.answers.at(waits)), lease_answer{held});
}

TEST_F(JobOfTwo, RefusesATaskThatFindsOtherFiles) {
  const auto asks = [&](size_t i, uint64_t digest, const char* file) {
    return job.ask({.task = starts[i].what.id,
                    .life = starts[i].what.life,
                    .wish = {.listing = listing({file}, digest)}});
  };
  EXPECT_TRUE(std::holds_alternative<lease_answer>(asks(0, 1, "a").answer()));
  const auto out = asks(1, 2, "b");
  EXPECT_EQ(out.how().code(), status_code::failed_precondition);
  EXPECT_THAT(out.how().message(), HasSubstr("worker host:2"));
}

TEST(JobCore, WarnsWhenAWorkerGoesThatKeptLaterPassesInMemory) {
  auto plan = one_source(10);
  plan.sources[0].kept = true;
  driven_job job{sharding_policy::dynamic, plan, {worker(1), worker(2)}};
  const auto task = job.open(1).starts.at(0).what;
  ASSERT_TRUE(job.ask(task, {0, 0, 0}));
  const auto out = job.lost(worker_id{1});
  EXPECT_TRUE(std::ranges::any_of(out.lines, [](const auto& x) {
    return x.text == "all later passes lack what a task kept in memory: its worker is gone";
  }));
}

TEST_F(SplitRules, ATaskThatGoesBackToAnEarlierPassHarmsNobody) {
  core.apply(split_assigner::came_to{b, 0, 3, {}});
  core.apply(split_assigner::came_to{a, 0, 5, {}});
  core.apply(split_assigner::came_to{a, 0, 3, {}});
  EXPECT_TRUE(*ask(b, 3));
  EXPECT_TRUE(*ask(a, 3));
}

TEST_F(SplitRules, APassIsOverForASourceThatWasToldLessWhenItWasClosed) {
  auto plan = plan_of(10, 1);
  plan.sources.push_back(plan.sources[0]);
  core = split_assigner{plan};
  EXPECT_TRUE(*put({a, 0, 0, {}, 0}));
  EXPECT_TRUE(*put({a, 1, 0, {}, 0}));
  EXPECT_TRUE(*put({a, 0, 0, {}, 1}));
  core.apply(split_assigner::closed{a, 0, 0});
  EXPECT_FALSE(*put({a, 1, 0, {}, 1}));
}

TEST_F(SplitRules, MoreThanCameBackIsNotLeased) {
  core.apply(split_assigner::came_to{a, 0, 0, {}});
  core.apply(split_assigner::leased_to{a, 0, 0, 0, split_range{0, 10}});
  core.apply(split_assigner::returned{0, 0, {2, 3}});
  core.apply(split_assigner::leased_to{b, 0, 0, 0, split_range{2, 4}});
  EXPECT_FALSE(core.has_rest());
}

} // namespace
} // namespace headrace::detail::test
