#include "headrace/actors/job/job_actor.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A named job without workers, with leases of 5 s, and the messages of its readers.
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
                    .timing = {1s, 5s},
                    .terms = {.client_timeout = 5s, .gc_timeout = 60s, .gc_check_interval = 10s}},
    std::make_shared<memory_store<job_record>>(
      job_record{job_id{7}, sharding_policy::dynamic, split_plan{}}),
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
  node.scheduler.advance_time(7s); // no message is dispatched in that time
  node.dispatch();
  EXPECT_TRUE(beat(1, 0).ok());
}

TEST_F(JobActor, CollectsARepetitionThatNobodyCameBackToAndSaysSo) {
  open(1, 0);
  open(2, 1);
  leave(1, 0);
  for (int i = 0; i < 75; ++i) {
    node.advance(1s);
    ASSERT_TRUE(beat(2, 1).ok());
  }
  const auto how = beat(1, 0);
  EXPECT_EQ(how.code(), status_code::not_found);
  EXPECT_THAT(how.message(), testing::HasSubstr("job 'train' was collected"));
  for (uint64_t repetition : {0, 1}) {
    const auto late = open(3, repetition);
    EXPECT_FALSE(late->getDispatcher().getIteration().getFinished()) << "it begins anew";
  }
}

/// A worker that takes every task and does nothing.
class idle_worker {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.worker";
  idle_worker(port::self_pointer<handle_type>, std::shared_ptr<std::vector<uint64_t>> tasks)
    : tasks_(std::move(tasks)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) {
      if (in->getWorker().isStartTask())
        tasks_->push_back(in->getWorker().getStartTask().getTaskId());
      return make_ok(in->getRequestId());
    }};
  }

private:
  std::shared_ptr<std::vector<uint64_t>> tasks_;
};

/// A job over a source of one split and a source of forty splits, with two idle workers.
class JobOfTwoSources : public testing::Test {
protected:
  JobOfTwoSources() {
    split_plan plan;
    plan.sources = {{.splits = 1, .group = 0}, {.splits = 40, .group = 1}};
    plan.groups = 2;
    std::vector<worker_change> present;
    for (uint64_t i : {0, 1}) {
      workers.push_back(port::spawn<idle_worker>(node.system, tasks[i]));
      present.push_back(
        {{worker_id{i + 1}, incarnation{1}, "host:" + std::to_string(i), {}, {}, 0}, workers[i]});
    }
    job = port::spawn<job_state>(node.system,
                                 job_description{.id = job_id{7},
                                                 .name = "train",
                                                 .policy = sharding_policy::dynamic,
                                                 .plan = plan,
                                                 .timing = {1s, 5s},
                                                 .terms = {.gc_timeout = 60s}},
                                 std::make_shared<memory_store<job_record>>(
                                   job_record{job_id{7}, sharding_policy::dynamic, plan}),
                                 present, logger{});
    node.dispatch();
  }
  ~JobOfTwoSources() override {
    port::ask_to_exit(job);
    for (const auto& worker : workers) port::ask_to_exit(worker);
    node.dispatch();
  }
  result<envelope> open(uint64_t reader) {
    return node.ask<envelope>(job, make_envelope(1, [&](schema::Envelope::Builder b) {
                                b.initDispatcher().initOpenIteration().setConsumerId(reader);
                              }));
  }
  static envelope question(uint64_t task, uint32_t source, uint64_t number) {
    return make_envelope(1, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initLeaseSplits();
      out.setTaskId(task);
      out.setIncarnation(1);
      out.setSource(source);
      out.setNumber(number);
    });
  }
  result<envelope> lease(uint64_t task, uint32_t source, uint64_t number) {
    return node.ask<envelope>(job, question(task, source, number));
  }
  /// Sends a question and does not wait for the answer.
  void asks(uint64_t task, uint32_t source, uint64_t number) {
    port::tell(job, question(task, source, number));
    node.dispatch();
  }
  static bool is_over(const result<envelope>& answer) {
    return answer.value()->getDispatcher().getSplitsLeased().isExhausted();
  }
  template <class F>
  void ends(uint64_t task, F&& how) {
    EXPECT_TRUE(node.ask<envelope>(job, make_envelope(1, [&](schema::Envelope::Builder b) {
                                     auto out = b.initDispatcher().initTaskEnded();
                                     out.setTaskId(task);
                                     out.setIncarnation(1);
                                     how(out);
                                   })));
  }

  actor_node node;
  std::vector<std::shared_ptr<std::vector<uint64_t>>> tasks{
    std::make_shared<std::vector<uint64_t>>(), std::make_shared<std::vector<uint64_t>>()};
  std::vector<published_actor> workers;
  job_handle job;
};

TEST_F(JobOfTwoSources, GivesWhatCameBackAfterTheEndToATaskOnTheWorkerThatStays) {
  ASSERT_TRUE(open(1));
  const auto leaves = tasks[0]->at(0);
  const auto stays = tasks[1]->at(0);
  const auto held = lease(leaves, 1, 0).value();
  const auto rest = held->getDispatcher().getSplitsLeased().getRange();
  ASSERT_TRUE(lease(stays, 0, 0));
  uint64_t number = 0;
  for (uint64_t left = 40 - rest.getCount(); left != 0;)
    left -=
      lease(stays, 1, number++).value()->getDispatcher().getSplitsLeased().getRange().getCount();
  // The question of the task `stays` waits because the task `leaves` has unread splits of source 1.
  // Then `leaves` requests splits of source 0, whose only split was leased to `stays`, and waits,
  // too. So that the two do not wait for ever, the job answers `stays` that the pass is over.
  asks(stays, 1, number);
  asks(leaves, 0, 0);
  ASSERT_TRUE(is_over(lease(stays, 0, 1)));
  ends(stays, [](auto) {});
  ends(leaves, [&](auto how) {
    how.setOutcome(schema::TaskOutcome::LEFT);
    auto unread = how.initLeft(1)[0];
    unread.setSource(1);
    unread.setAnswered(1);
    unread.initRest().setFirst(rest.getFirst());
    unread.getRest().setCount(rest.getCount());
  });
  EXPECT_EQ(tasks[0]->size(), 1u);
  ASSERT_EQ(tasks[1]->size(), 2u);
  const auto again = lease(tasks[1]->at(1), 1, 0).value();
  const auto given = again->getDispatcher().getSplitsLeased().getRange();
  EXPECT_EQ(given.getFirst(), rest.getFirst());
  EXPECT_EQ(given.getCount(), rest.getCount());
  EXPECT_FALSE(open(2).value()->getDispatcher().getIteration().getFinished());
  EXPECT_TRUE(is_over(lease(tasks[1]->at(1), 1, 1)));
  ends(tasks[1]->at(1), [](auto) {});
  EXPECT_TRUE(open(2).value()->getDispatcher().getIteration().getFinished());
}

} // namespace
} // namespace headrace::detail::test
