#include "headrace/actors/job/job_actor.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// A named job without workers, of leases of 5 s, and what its readers say.
class JobActor : public testing::Test {
protected:
  ~JobActor() override {
    port::ask_to_exit(job);
    node.dispatch();
  }
  envelope told(const envelope& what) {
    auto answer = node.ask<envelope>(job, what);
    EXPECT_TRUE(answer) << to_string(answer.status());
    return answer ? *answer : make_ok();
  }
  envelope open(uint64_t reader, uint64_t repetition) {
    return told(make_envelope(1, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initOpenIteration();
      out.setConsumerId(reader);
      out.setRepetition(repetition);
    }));
  }
  status beat(uint64_t reader, uint64_t repetition) {
    return status_of(told(make_envelope(1, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initConsumerHeartbeat();
      out.setConsumerId(reader);
      out.setRepetition(repetition);
    })));
  }
  void leave(uint64_t reader, uint64_t repetition) {
    told(make_envelope(1, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initLeaveIteration();
      out.setConsumerId(reader);
      out.setRepetition(repetition);
    }));
  }

  actor_node node;
  job_handle job = port::spawn<job_state>(
    node.system,
    job_description{.id = job_id{7},
                    .name = "train",
                    .options = {.timing = {1s, 5s}, .idle_job = 60s},
                    .store = std::make_shared<memory_store<job_core>>(
                      job_core{job_id{7}, processing_mode::dynamic, split_plan{}})},
    std::vector<worker_change>{}, logger{});
};

TEST_F(JobActor, LosesAReaderThatIsSilentForALease) {
  open(1, 0);
  open(2, 0);
  node.advance(4s);
  EXPECT_TRUE(beat(2, 0).ok());
  node.advance(2s);
  EXPECT_EQ(beat(1, 0).code(), status_code::not_found);
  EXPECT_TRUE(beat(2, 0).ok());
}

TEST_F(JobActor, LosesNobodyByItsOwnAbsence) {
  open(1, 0);
  node.advance(1s);
  node.scheduler.advance_time(7s); // nothing is dispatched on the way
  node.dispatch();
  EXPECT_TRUE(beat(1, 0).ok());
}

TEST_F(JobActor, GivesUpARepetitionThatNobodyCameBackToAndSaysSo) {
  open(1, 0);
  open(2, 1);
  leave(1, 0);
  for (int i = 0; i < 70; ++i) {
    node.advance(1s);
    ASSERT_TRUE(beat(2, 1).ok());
  }
  const auto answer = open(3, 0);
  const auto late = answer->getDispatcher().getIteration();
  EXPECT_TRUE(late.getFinished());
  ASSERT_TRUE(late.getFailure().isFailed());
  EXPECT_THAT(std::string{late.getFailure().getFailed().getText()},
              testing::HasSubstr("repetition 0 of job 'train' was given up"));
  const auto present = open(3, 1);
  EXPECT_FALSE(present->getDispatcher().getIteration().getFinished());
}

} // namespace
} // namespace headrace::test
