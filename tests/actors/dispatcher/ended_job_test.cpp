#include "tests/actors/dispatcher/driven_dispatcher.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace dispatcher_command;
using testing::HasSubstr;

/// The description of the job that the commands begin. Its id is zero if they begin none.
job_description begun(const dispatcher_commands& from) {
  const auto all = all_of<run_job>(from);
  return all.empty() ? job_description{} : all[0].what;
}

class EndedJob : public testing::Test {
protected:
  EndedJob() { x.enroll("ten"); }
  /// Opens a job of this name and ends it with `past`; returns its id.
  job_id read(const std::string& name, const job_past& past, bool collected = false) {
    const auto id = begun(x.open(1, "ten", name)).id;
    x.take(x.core.job_ended(id, past, collected));
    return id;
  }
  iteration_view asked(uint64_t repetition, const std::string& name = "train") {
    const auto out = x.open_repetition(2, "ten", name, repetition);
    EXPECT_EQ(begun(out).id, job_id{});
    return answer_to<iteration_view>(x.last, out);
  }
  driven_dispatcher x;
};

TEST_F(EndedJob, AnswersTheEndToWhoAsksForWhatIsOver) {
  const auto id = read("train", {.below = 3});
  for (uint64_t repetition : {0, 1, 2}) {
    const auto view = asked(repetition);
    EXPECT_TRUE(view.finished);
    EXPECT_TRUE(view.over_before);
    EXPECT_TRUE(view.failure.ok());
    EXPECT_EQ(view.job, id);
  }
}

TEST_F(EndedJob, GoesOnWithTheNextRepetition) {
  const auto id = read("train", {.below = 3, .failed = {1}});
  const auto next = begun(x.open_repetition(2, "ten", "train", 3));
  EXPECT_NE(next.id, id);
  EXPECT_EQ(next.past, (job_past{.below = 3, .failed = {1}}));
  EXPECT_FALSE(all_of<to_job>(x.open_repetition(3, "ten", "train", 0)).empty())
    << "a job that runs answers for itself";
}

TEST_F(EndedJob, SaysThatARepetitionFailed) {
  read("train", {.below = 2, .failed = {1}});
  EXPECT_TRUE(asked(0).failure.ok());
  EXPECT_THAT(asked(1).failure.message(), HasSubstr("repetition 1 of job 'train' failed"));
}

TEST_F(EndedJob, IsKnownAfterTheDispatcherCameBack) {
  read("train", {.below = 3});
  read("gone", {}, true);
  x.restart();
  EXPECT_TRUE(asked(2).over_before);
  const auto next = begun(x.open_repetition(2, "ten", "train", 3));
  ASSERT_EQ(next.past, job_past{.below = 3});
  x.jobs_run = false;
  const auto again = all_of<run_job>(x.restart());
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].what.past, job_past{.below = 3}) << "its job knows it, too";
}

TEST_F(EndedJob, IsToldApartByNameAndDataset) {
  x.enroll("other");
  read("train", {.below = 3});
  EXPECT_NE(begun(x.open(2, "ten", "test")).id, job_id{});
  EXPECT_NE(begun(x.open(2, "other", "train")).id, job_id{});
}

TEST_F(EndedJob, LeavesNothingWhereItHasNoName) {
  read("", {.below = 1});
  EXPECT_EQ(x.core.record().ended(), 0u);
}

TEST_F(EndedJob, LeavesNothingWhereNothingWasFinished) {
  const auto id = read("train", {}, true);
  EXPECT_EQ(x.core.record().ended(), 0u);
  EXPECT_NE(begun(x.open(2, "ten", "train")).id, id) << "it is read anew";
}

TEST_F(EndedJob, SaysThatItWasCollectedToWhoStillAsks) {
  const auto id = read("train", {}, true);
  for (int i = 0; i < 2; ++i) {
    const auto how = answer_to<status>(x.last, x.for_job(id));
    EXPECT_EQ(how.code(), status_code::not_found);
    EXPECT_THAT(how.message(), HasSubstr("was collected"));
    EXPECT_THAT(how.message(), HasSubstr("--job-gc-timeout"));
    x.restart();
  }
}

TEST_F(EndedJob, KeepsWhatIsOverWhereItsActorFailed) {
  const auto id = begun(x.open(1, "ten", "train")).id;
  x.take(x.core.job_failed(id, aborted("too often"), {}, {.below = 2}));
  EXPECT_TRUE(asked(1).over_before);
  const auto next = begun(x.open_repetition(2, "ten", "train", 2)).id;
  x.take(x.core.job_not_started(next, internal_error("no memory")));
  EXPECT_TRUE(asked(1).over_before);
}

TEST(EndedJobs, AreBounded) {
  service_record x;
  const auto over = [&](uint64_t i) {
    x.apply(
      service_record::job_started{{job_id{i + 1}, "train", "ten", {}, "key " + std::to_string(i)}});
    x.apply(service_record::job_over{job_id{i + 1}, {.below = 1}, true});
  };
  constexpr auto most = service_record::most_ended;
  for (uint64_t i = 0; i < most; ++i) over(i);
  EXPECT_EQ(x.ended(), most);
  EXPECT_NE(x.ended("key 0"), nullptr);
  x.apply(service_record::job_started{{job_id{most + 9}, "train", "ten", {}, "key 0"}});
  EXPECT_EQ(x.ended("key 0"), nullptr) << "one runs";
  x.apply(service_record::job_over{job_id{most + 9}, {.below = 2}});
  over(most);
  EXPECT_EQ(x.ended(), most);
  EXPECT_EQ(x.ended("key 1"), nullptr) << "it ended before all others";
  ASSERT_NE(x.ended("key 0"), nullptr) << "it ended again, later";
  EXPECT_EQ(x.ended("key 0")->past.below, 2u);
  EXPECT_FALSE(x.was_collected(job_id{1}));
  EXPECT_TRUE(x.was_collected(job_id{most}));
}

} // namespace
} // namespace headrace::detail::test
