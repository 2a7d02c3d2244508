#include "tests/actors/job/driven_job.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

TEST(JobRounds, CountsFromTheLastReportWhatAConsumerThatIsGoneHasMissed) {
  driven_job job{{.id = job_id{1},
                  .name = "train",
                  .policy = sharding_policy::off,
                  .plan = one_source(10),
                  .timing = {1s, 5s},
                  .num_consumers = 2},
                 {worker(1)}};
  const auto begun = job.open_seat(0, 1);
  for (const auto& x : begun.starts) job.started(x);
  for (const auto& x : job.open_seat(1, 2).starts) job.started(x);
  ASSERT_EQ(job.state().rounds().epoch().number, 1u);
  for (const auto& x : job.came(worker(2)).starts) job.started(x);
  // Consumer 2 still has to hand out the rounds 10 to 29 when the second epoch begins.
  job.beat_in_rounds(2, {.round = 10, .answers = 2});
  job.beat_in_rounds(1, {.round = 30, .answers = 2});
  ASSERT_EQ(job.state().rounds().epoch().first_round, 30u);
  job.pass(1s);
  job.open_seat(1, 3, true);
  job.beat_in_rounds(1, {.round = 50});
  job.beat_in_rounds(3, {.round = 0, .answers = 3});
  const auto out = job.announced(job.beat_in_rounds(1, {.round = 50, .answers = 3}));
  ASSERT_EQ(job.state().rounds().epoch().first_round, 50u);
  ASSERT_FALSE(out.news.empty());
  EXPECT_EQ(out.news.front().what.rounds.now.number, 3u);
  EXPECT_EQ(out.news.front().what.losses.elements, 40u);
}

} // namespace
} // namespace headrace::detail::test
