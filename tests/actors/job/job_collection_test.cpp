#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

job_description about(sharding_policy policy, const job_terms& terms) {
  return {.id = job_id{1},
          .name = "train",
          .policy = policy,
          .plan = one_source(10),
          .timing = {1s, 5s},
          .terms = terms};
}

/// Repetitions are collected after a minute without a reader; this is checked every ten seconds.
constexpr job_terms soon{.gc_timeout = 60s, .gc_check_interval = 10s};

TEST(JobCollection, TakesWhatNobodyReadsForLongAtTheNextLook) {
  driven_job x{about(sharding_policy::off, soon), {worker(1)}};
  x.pass(3s);
  const auto task = x.open(1).starts.at(0).what;
  x.leave(1);
  const auto before = x.pass(66s);
  EXPECT_FALSE(before.ended) << "it is looked at 70 s after the beginning, and not before";
  EXPECT_TRUE(before.stops.empty());
  const auto after = x.pass(2s);
  EXPECT_TRUE(after.ended);
  ASSERT_EQ(after.stops.size(), 1u);
  EXPECT_EQ(after.stops[0].task, task.id);
  EXPECT_THAT(after.stops[0].reason, HasSubstr("was collected"));
  EXPECT_TRUE(x.core.record().has_collected());
  EXPECT_TRUE(x.core.record().past().empty()) << "who reads it begins anew";
}

TEST(JobCollection, NeverTakesWhatIsToBeKept) {
  const struct {
    const char* what;
    sharding_policy policy;
    job_terms terms;
  } rows[] = {
    {"never", sharding_policy::off, {.gc_timeout = std::nullopt, .gc_check_interval = 10s}},
    {"dynamic", sharding_policy::dynamic, soon},
  };
  for (const auto& [what, policy, terms] : rows) {
    driven_job x{about(policy, terms), {worker(1)}};
    x.open(1);
    x.leave(1);
    const auto out = x.pass(24h);
    EXPECT_FALSE(out.ended) << what;
    EXPECT_TRUE(out.stops.empty()) << what;
    EXPECT_TRUE(x.open(2).starts.empty()) << what << ": it goes on with its task";
  }
}

TEST(JobCollection, TakesJobsUnderDynamicWhereThatIsWanted) {
  auto terms = soon;
  terms.gc_dynamic_sharding_jobs = true;
  driven_job x{about(sharding_policy::dynamic, terms), {worker(1)}};
  x.open(1);
  x.leave(1);
  EXPECT_TRUE(x.pass(2min).ended);
}

TEST(JobCollection, CountsFromTheLastClientThatLeftOrFellSilent) {
  auto terms = soon;
  terms.client_timeout = 30s;
  driven_job x{about(sharding_policy::off, terms), {worker(1)}};
  x.open(1);
  x.open(2);
  x.leave(1);
  EXPECT_FALSE(x.pass(85s).ended) << "the second one kept its place for half a minute";
  EXPECT_TRUE(x.pass(20s).ended);
}

TEST(JobCollection, IsPutOffByWhoReads) {
  driven_job x{about(sharding_policy::off, soon), {worker(1)}};
  x.open(1);
  x.leave(1);
  x.pass(50s);
  x.open(2);
  EXPECT_FALSE(x.pass(60s).ended);
  x.leave(2);
  EXPECT_FALSE(x.pass(55s).ended);
  EXPECT_TRUE(x.pass(20s).ended);
}

TEST(JobCollection, BeginsARepetitionAnewWhileAnotherIsRead) {
  driven_job x{about(sharding_policy::off, soon), {worker(1)}};
  const auto first = x.open(1, 0).starts.at(0).what;
  x.leave(1, 0);
  x.open(2, 1);
  for (int i = 0; i < 90; ++i) {
    x.pass(1s);
    x.beat(2, 1);
  }
  EXPECT_FALSE(x.begun(0));
  EXPECT_TRUE(x.begun(1));
  const auto late = x.beat(1, 0).how();
  EXPECT_EQ(late.code(), status_code::not_found);
  EXPECT_THAT(late.message(), HasSubstr("was collected"));
  EXPECT_THAT(late.message(), HasSubstr("job_gc_timeout"));
  const auto again = x.open(3, 0);
  ASSERT_EQ(again.starts.size(), 1u);
  EXPECT_NE(again.starts[0].what.id, first.id) << "tasks of the earlier one may still be there";
  EXPECT_FALSE(again.view().finished);
}

TEST(JobCollection, SaysSoToATaskThatStillAsks) {
  auto terms = soon;
  terms.gc_dynamic_sharding_jobs = true;
  driven_job x{about(sharding_policy::dynamic, terms), {worker(1)}};
  const auto task = x.open(1, 0).starts.at(0).what;
  x.leave(1, 0);
  x.open(2, 1);
  for (int i = 0; i < 90; ++i) {
    x.pass(1s);
    x.beat(2, 1);
  }
  const auto out = x.ask({.task = task.id, .life = task.life, .wish = {}});
  EXPECT_THAT(std::get<status>(out.answers.at(x.last_token)).message(), HasSubstr("was collected"));
  x.restart({worker(1)});
  const auto later = x.ask({.task = task.id, .life = task.life, .wish = {}});
  EXPECT_THAT(std::get<status>(later.answers.at(x.last_token)).message(),
              HasSubstr("was collected"));
}

TEST(JobCollection, LeavesWhatIsFinished) {
  driven_job x{about(sharding_policy::off, soon), {worker(1)}};
  x.ended(x.open(1, 0).starts.at(0).what);
  x.leave(1, 0);
  const auto out = x.pass(10min);
  EXPECT_TRUE(out.ended) << "nothing is left to do";
  EXPECT_FALSE(x.core.record().has_collected());
  EXPECT_EQ(x.core.record().past(), (job_past{.below = 1}));
}

TEST(JobCollection, TheNextJobOfANameKnowsWhatIsOver) {
  auto next = about(sharding_policy::off, soon);
  next.past = {.below = 2, .also = {4}, .failed = {1}};
  driven_job x{next, {worker(1)}};
  for (uint64_t over : {0, 4}) {
    const auto out = x.open(1, over);
    EXPECT_TRUE(out.view().finished) << over;
    EXPECT_TRUE(out.view().failure.ok()) << over;
  }
  EXPECT_EQ(x.open(1, 1).view().failure.code(), status_code::aborted);
  EXPECT_FALSE(x.open(1, 2).view().finished);
  EXPECT_EQ(x.core.record().past(), next.past);
}

TEST(JobPast, IsBounded) {
  job_past x;
  for (uint64_t i = 0; i < 1'000; ++i) (i % 2 == 0 ? x.also : x.failed).push_back(2 * i + 1);
  x.bound();
  EXPECT_LE(x.also.size(), job_past::most_listed);
  EXPECT_LE(x.failed.size(), job_past::most_listed);
  for (uint64_t i = 0; i < 1'000; ++i) EXPECT_TRUE(x.covers(2 * i + 1)) << i;
  EXPECT_FALSE(x.covers(2'000));
}

TEST(JobRecord, BoundsTheFailuresThatItRemembers) {
  job_record x{job_id{1}, sharding_policy::off, one_source(1)};
  for (uint64_t i = 0; i < 3'000; ++i) {
    x.apply({i, job_record::begun{i}});
    x.apply({i, iteration::fact{iteration::finished_as{internal_error("out of luck")}}});
    x.apply({i, job_record::forgotten{}});
  }
  EXPECT_EQ(x.ended_as(0), status{});
  EXPECT_EQ(x.ended_as(2'999), internal_error("out of luck"));
  EXPECT_EQ(x.past().below, 3'000u);
  EXPECT_LE(x.past().failed.size(), job_past::most_listed);
}

} // namespace
} // namespace headrace::detail::test
