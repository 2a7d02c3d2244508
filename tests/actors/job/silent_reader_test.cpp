#include "tests/actors/job/driven_job.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

job_description about(duration client_timeout) {
  return {.id = job_id{1},
          .name = "train",
          .policy = sharding_policy::dynamic,
          .plan = one_source(10),
          .timing = {1s, 5s},
          .terms = {.client_timeout = client_timeout}};
}

/// Lets `time` pass, in which reader 2 sends heartbeats and the other readers are silent. `waits`:
/// the trainer of reader 2 waits. Returns the lines that the job logs.
std::vector<log_line> silent_for(driven_job& x, duration time, bool waits) {
  std::vector<log_line> lines;
  for (duration past{}; past < time; past += 1s) {
    auto out = x.pass(1s);
    lines.insert(lines.end(), out.lines.begin(), out.lines.end());
    auto beat = waits ? x.beat_waiting(2) : x.beat(2);
    lines.insert(lines.end(), beat.lines.begin(), beat.lines.end());
  }
  return lines;
}

TEST(SilentReader, KeepsItsPlaceWhileNobodyWaits) {
  driven_job x{about(2min), {worker(1)}};
  x.open(1);
  x.open(2);
  EXPECT_TRUE(silent_for(x, 119s, false).empty());
  EXPECT_TRUE(x.beat(1).how().ok());
  EXPECT_TRUE(silent_for(x, 119s, false).empty()) << "its time-out begins again";
  EXPECT_EQ(silent_for(x, 2s, false).size(), 1u);
  EXPECT_EQ(x.beat(1).how().code(), status_code::not_found);
}

TEST(SilentReader, IsGivenUpAfterTheLeaseWhereOthersWait) {
  driven_job x{about(2min), {worker(1)}};
  x.open(1);
  x.open(2);
  EXPECT_TRUE(silent_for(x, 4s, true).empty()) << "its lease runs";
  const auto lines = silent_for(x, 2s, true);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text, "consumer lost");
  EXPECT_EQ(x.beat(1).how().code(), status_code::not_found);
  EXPECT_TRUE(x.beat(2).how().ok());
}

TEST(SilentReader, IsGivenUpAsSoonAsSomebodyWaits) {
  driven_job x{about(2min), {worker(1)}};
  x.open(1);
  x.open(2);
  EXPECT_TRUE(silent_for(x, 60s, false).empty());
  EXPECT_EQ(x.beat_waiting(2).lines.size(), 1u);
}

TEST(SilentReader, IsNotGivenUpForWhoWaitsInAnotherRepetition) {
  driven_job x{about(2min), {worker(1)}};
  x.open(1, 0);
  x.open(2, 1);
  for (int i = 0; i < 60; ++i) {
    x.pass(1s);
    EXPECT_TRUE(x.beat_waiting(2, 1).lines.empty());
  }
  EXPECT_TRUE(x.beat(1, 0).how().ok());
}

TEST(SilentReader, IsGivenTimeWhereTheJobItselfWasAway) {
  driven_job x{about(2min), {worker(1)}};
  x.open(1);
  x.open(2);
  x.now += 60s; // the job's process was stopped
  EXPECT_TRUE(x.beat_waiting(2).lines.empty());
  EXPECT_TRUE(silent_for(x, 4s, true).empty());
  EXPECT_EQ(silent_for(x, 2s, true).size(), 1u);
}

TEST(SilentReader, IsToldNoLongerLeaseThanItsTimeOut) {
  driven_job shorter{about(3s), {worker(1)}};
  EXPECT_EQ(shorter.open(1).view().timing.lease, 3s);
  driven_job longer{about(2min), {worker(1)}};
  EXPECT_EQ(longer.open(1).view().timing.lease, 5s) << "from then on others may be given its rows";
}

TEST(SilentReader, EndsAJobOfItsOwnOnlyAtItsTimeOut) {
  auto own = about(2min);
  own.name.clear();
  driven_job x{own, {worker(1)}};
  x.open(1);
  EXPECT_FALSE(x.pass(119s).ended);
  EXPECT_TRUE(x.pass(2s).ended);
}

} // namespace
} // namespace headrace::detail::test
