#include "headrace/client/headrace.hpp"
#include "headrace/client/service_status.hpp"
#include "tests/support/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

// These tests check, through a whole service, which trainers share a job, what remains of a job
// that is over, and when a job is collected.

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::patience;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// An unfinished repetition without readers is collected almost at once, except under DYNAMIC.
constexpr job_terms at_once{.gc_timeout = 1ms, .gc_check_interval = 10ms};

class JobRules : public testing::Test {
protected:
  dataset named(const std::string& name, sharding_policy mode = sharding_policy::off,
                target_workers targets = target_workers::automatic) {
    return dataset::range(10).apply(distribute{{.processing_mode = mode,
                                                .service = cluster.target(),
                                                .job_name = name,
                                                .target_workers = targets}});
  }
  /// The sorted elements; sets `warned` to the reader's last warning.
  std::vector<int64_t> read(const dataset& from) {
    std::vector<int64_t> out;
    auto it = from.iterate({.warn = [this](const std::string& what) { warned = what; }});
    while (const auto x = it.next().value()) {
      const element& one = *x;
      out.push_back(one[0].scalar<int64_t>());
    }
    std::ranges::sort(out);
    return out;
  }
  bool ends_all_jobs() {
    const auto until = clock::system().now() + patience;
    while (clock::system().now() < until)
      if (auto now = get_service_status(cluster.target(), patience); now && now->jobs.empty())
        return true;
    return false;
  }
  status why(const dataset& from) {
    try {
      read(from);
      return {};
    } catch (const error& e) {
      return e.why();
    }
  }

  std::string warned;
  local_cluster cluster{{.workers = 1, .jobs = at_once}};
};

TEST_F(JobRules, WhatIsOverStaysOverAndTheNextRepetitionBegins) {
  const auto first = named("train");
  EXPECT_THAT(read(first), SizeIs(10));
  ASSERT_TRUE(ends_all_jobs());
  const auto late = named("train");
  EXPECT_THAT(read(late), IsEmpty()) << "the first iteration of each is repetition 0";
  EXPECT_THAT(warned, HasSubstr("another job_name"));
  warned.clear();
  EXPECT_THAT(read(late), SizeIs(10));
  ASSERT_TRUE(ends_all_jobs());
  EXPECT_THAT(read(first), IsEmpty());
  EXPECT_EQ(warned, "") << "it is one of those that read the job";
  EXPECT_THAT(read(first), SizeIs(10));
}

TEST_F(JobRules, AnEndlessRepeatPassesOverWhatIsOver) {
  auto three = named("train");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(read(three), SizeIs(10));
  ASSERT_TRUE(ends_all_jobs());
  EXPECT_THAT(read(named("train").repeat().take(15)), SizeIs(15));
}

TEST_F(JobRules, AnEndlessRepeatOfNothingEnds) {
  const distribute by{{.service = cluster.target(), .job_name = "empty"}};
  EXPECT_THAT(read(dataset::range(0).apply(by).repeat()), IsEmpty());
}

TEST_F(JobRules, WhatIsNotFinishedIsCollectedAndBeginsAnew) {
  {
    auto it = named("train").iterate();
    ASSERT_TRUE(it.next());
  }
  ASSERT_TRUE(ends_all_jobs());
  EXPECT_THAT(read(named("train")), SizeIs(10));
  EXPECT_EQ(warned, "");
}

TEST_F(JobRules, AJobUnderDynamicIsKept) {
  {
    auto it = named("kept", sharding_policy::dynamic).iterate();
    ASSERT_TRUE(it.next());
  }
  {
    auto it = named("collected").iterate();
    ASSERT_TRUE(it.next());
  }
  const auto until = clock::system().now() + patience;
  std::vector<std::string> names(2);
  while (names.size() != 1 && clock::system().now() < until) {
    names.clear();
    const auto shown = get_service_status(cluster.target(), patience).value();
    for (const auto& job : shown.jobs) names.push_back(job.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("kept"));
  EXPECT_THAT(read(named("kept", sharding_policy::dynamic)), SizeIs(9)) << "it goes on";
}

TEST_F(JobRules, WhoAsksForSomethingElseThanTheJobHasReadsBoth) {
  auto it = named("train", sharding_policy::dynamic).iterate();
  ASSERT_TRUE(it.next());
  const auto how = why(named("train", sharding_policy::off, target_workers::any));
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(),
              AllOf(HasSubstr("exists with processing mode dynamic, target workers auto"),
                    HasSubstr("asks for processing mode off, target workers any")));
}

} // namespace
} // namespace headrace::detail
