#include "tests/actors/job/driven_job.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

TEST(JobCore, ForgetsRepetitionsThatAreFinishedAndUnreadButTheNewest) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  for (uint64_t epoch = 0; epoch < 1'000; ++epoch) {
    x.ended(x.open(1, epoch).starts.at(0).what);
    EXPECT_FALSE(x.core.record().ended_as(epoch)) << "it is read";
    x.leave(1, epoch);
    ASSERT_EQ(x.core.record().repetitions().size(), 1u);
  }
  EXPECT_EQ(x.core.record().ended_as(998), status{});
  EXPECT_EQ(x.core.record().ended_as(999), std::nullopt);
}

TEST(JobCore, RemembersHowForgottenRepetitionsEndedInWhateverOrder) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  for (uint64_t number : {3, 1, 2, 0, 9})
    x.ended(x.open(1, number).starts.at(0).what,
            number == 2 ? internal_error("out of luck") : status{});
  for (uint64_t number : {1, 2, 0}) x.leave(1, number);
  const auto& record = x.core.record();
  EXPECT_EQ(record.ended_as(0), status{});
  EXPECT_EQ(record.ended_as(1), status{});
  EXPECT_EQ(record.ended_as(2), internal_error("out of luck"));
  EXPECT_EQ(record.ended_as(3), std::nullopt) << "it is read";
  EXPECT_EQ(record.ended_as(4), std::nullopt) << "it never began";
  const auto late = x.open(2, 2);
  EXPECT_TRUE(late.view().finished);
  EXPECT_EQ(late.view().failure, internal_error("out of luck"));
  EXPECT_FALSE(x.begun(2)) << "it does not begin again";
}

TEST(JobCore, EndsWhenNobodyReadsIt) {
  driven_job x{{.id = job_id{1}, .policy = sharding_policy::off}, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  const auto out = x.leave(1);
  EXPECT_TRUE(out.ended);
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].task, task.what.id);
}

TEST(JobCore, KeepsANamedJobThatIsFinishedForAWhile) {
  driven_job x{{.id = job_id{1}, .name = "train", .terms = {.gc_timeout = 60s}}, {worker(1)}};
  x.ended(x.open(1).starts.at(0).what);
  EXPECT_FALSE(x.leave(1).ended);
  EXPECT_FALSE(x.pass(59s).ended) << "the next repetition may begin at once";
  EXPECT_TRUE(x.pass(2s).ended);
}

} // namespace
} // namespace headrace::detail::test
