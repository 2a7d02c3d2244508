#include "tests/actors/dispatcher/driven_dispatcher.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace headrace::detail::test {
namespace {

using namespace dispatcher_command;
using namespace std::chrono_literals;
using testing::HasSubstr;

// Drains of workers. Leases are 5 s.

class Draining : public testing::Test {
protected:
  using commands = dispatcher_commands;

  Draining() {
    x.now = time_point{1h};
    x.restart();
    x.now += 1min; // the time in which earlier workers may register again has passed
    x.add_worker("host:1", 11);
    x.add_worker("host:2", 12);
  }
  commands drain(const drain_request& what) {
    const request_token token{next_++};
    last = token;
    return x.take(x.core.drain_worker(token, what, x.now));
  }
  commands beat(uint64_t id, uint64_t life, size_t tasks, bool leaving) {
    std::vector<running_task> all;
    for (size_t i = 0; i < tasks; ++i) all.push_back({task_id{i + 1}, job_});
    const request_token token{next_++};
    last_beat = token;
    return x.take(
      x.core.worker_heartbeat(token, worker_id{id}, incarnation{life}, all, leaving, x.now));
  }
  /// True if the answer to the last heartbeat orders the worker to leave.
  bool told(const commands& from) { return answer_to<heartbeat_heard>(last_beat, from).leave; }
  commands leaves(uint64_t id, uint64_t life, uint32_t unfinished = 0) {
    return x.take(x.core.worker_leaves(request_token{next_++}, worker_id{id}, incarnation{life},
                                       unfinished, x.now));
  }
  status refusal(const commands& from) { return answer_to<status>(last, from); }
  worker_drains progress(const commands& from) { return answer_to<worker_drains>(last, from); }
  static bool answers(const commands& from, request_token to) {
    return std::ranges::any_of(all_of<answer>(from), [&](const auto& a) { return a.to == to; });
  }
  /// A request that is answered as soon as the worker's number of tasks differs from the number in
  /// the answer `said`, or the worker is gone.
  static drain_request follow(const worker_drains& said) {
    return {.which = said.data_address, .known = said.tasks, .life = said.life};
  }

  driven_dispatcher x;
  request_token last, last_beat;

private:
  uint64_t next_ = 1'000;
  job_id job_{1};
};

TEST_F(Draining, WhoAwaitsWorkersWaitsForOneThatTakesTasks) {
  drain({.which = "host:1"});
  const request_token waits{7};
  EXPECT_FALSE(answers(x.take(x.core.await_workers(waits, 2)), waits));
  const auto came = x.add_worker("host:3", 13);
  EXPECT_TRUE(answer_to<status>(waits, came).ok());
}

TEST_F(Draining, TellsTheWorkerUntilItSaysThatItLeavesAndAnswersWhenItHasLeft) {
  EXPECT_EQ(progress(drain({.which = "host:1"})),
            (worker_drains{worker_id{1}, incarnation{11}, "host:1", 0, false, 0}));
  drain({.which = worker_id{1}, .known = 0});
  const auto waiting = last;
  EXPECT_TRUE(told(beat(1, 11, 0, false)));
  EXPECT_TRUE(told(beat(1, 11, 0, false))) << "the answer may have been lost";
  EXPECT_FALSE(told(beat(1, 11, 0, true)));
  EXPECT_FALSE(told(beat(2, 12, 0, false))) << "another worker";
  const auto out = leaves(1, 11);
  EXPECT_TRUE(answer_to<worker_drains>(waiting, out).left);
  EXPECT_TRUE(progress(drain({.which = "host:1"})).left) << "asked again";
}

TEST_F(Draining, AnswersWhenTheNumberOfTasksIsAnotherOne) {
  const auto said = progress(drain({.which = "host:1"}));
  const auto first = drain(follow(said));
  EXPECT_FALSE(answers(first, last));
  EXPECT_EQ(all_of<watch_asker>(first).size(), 1u);
  EXPECT_FALSE(answers(beat(1, 11, 0, true), last));
  EXPECT_EQ(progress(beat(1, 11, 3, true)).tasks, 3u);
}

TEST_F(Draining, SaysWhatWasUnfinishedWhenItsTimeWasOver) {
  drain({.which = "host:1", .known = 0});
  const auto out = leaves(1, 11, 2);
  EXPECT_EQ(progress(out).unfinished, 2u);
  EXPECT_TRUE(progress(out).left);
}

TEST_F(Draining, TellsJobsToGiveItNothingNew) {
  x.enroll("ten");
  const auto job = all_of<run_job>(x.open(1, "ten")).at(0).what.id;
  const auto changes = all_of<worker_changed>(drain({.which = "host:1"}));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].job, job);
  EXPECT_EQ(changes[0].worker.id, worker_id{1});
  EXPECT_TRUE(changes[0].worker.draining);
  EXPECT_FALSE(changes[0].lost);
  EXPECT_TRUE(all_of<worker_changed>(drain({.which = "host:1"})).empty()) << "once";
}

TEST_F(Draining, TellsJobsAlsoOfAWorkerThatASignalStops) {
  x.enroll("ten");
  x.open(1, "ten");
  const auto changes = all_of<worker_changed>(beat(1, 11, 1, true));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].worker.draining);
  EXPECT_FALSE(x.core.record().drains(worker_id{1}));
}

TEST_F(Draining, RefusesAnUnknownWorkerAndNamesThoseThatThereAre) {
  const auto why = refusal(drain({.which = "host:9"}));
  EXPECT_EQ(why.code(), status_code::not_found);
  EXPECT_EQ(why.message(),
            "this service has no worker at host:9; there are: 1 at host:1, 2 at host:2");
  EXPECT_THAT(refusal(drain({.which = worker_id{9}})).message(),
              HasSubstr("no worker of the number 9; there are"));
  leaves(1, 11);
  leaves(2, 12);
  EXPECT_THAT(refusal(drain({.which = "host:9"})).message(), HasSubstr("there are none"));
}

TEST_F(Draining, SaysThatAWorkerIsLostBeforeAndWhileItLeaves) {
  drain({.which = "host:1", .known = 0});
  const auto waiting = last;
  commands out;
  for (int i = 0; i < 12 && !answers(out, waiting); ++i) {
    x.now += 500ms;
    out = x.take(x.core.timer(x.now));
  }
  const auto why = answer_to<status>(waiting, out);
  EXPECT_EQ(why.code(), status_code::aborted);
  EXPECT_THAT(why.message(),
              HasSubstr("worker 1 at host:1 is lost: nothing was heard of it for 5"));
  EXPECT_THAT(why.message(), HasSubstr("it leaves"));
  const auto other = refusal(drain({.which = "host:2"}));
  EXPECT_EQ(other.code(), status_code::aborted);
  EXPECT_THAT(other.message(), HasSubstr("it works on"));
}

TEST_F(Draining, HoldsForTheNextProcessInItsPlaceUntilTheWorkerHasLeft) {
  drain({.which = "host:1"});
  x.core.worker_disconnected(worker_id{1}, incarnation{11});
  const auto again = x.add_worker("host:1", 21); // the worker crashed and was started again
  EXPECT_TRUE(answer_to<worker_registered>(x.last, again).leave);
  leaves(1, 21);
  const auto fresh = x.add_worker("host:1", 31);
  EXPECT_FALSE(answer_to<worker_registered>(x.last, fresh).leave) << "who comes then is welcome";
}

TEST_F(Draining, DoesNotTakeTheNextProcessForTheOneThatWasToLeave) {
  const auto said = progress(drain({.which = "host:1"}));
  leaves(1, 11); // the client that drains the worker is not connected, and gets no answer
  x.add_worker("host:1", 31);
  EXPECT_THAT(refusal(drain(follow(said))).message(), HasSubstr("another process"));
  EXPECT_FALSE(told(beat(1, 31, 0, false)));
}

TEST_F(Draining, SurvivesADispatcherThatKeepsItsState) {
  const auto said = progress(drain({.which = "host:1"}));
  x.restart();
  drain(follow(said));
  const auto waiting = last;
  const auto back = x.add_worker("host:1", 11, worker_id{1});
  EXPECT_TRUE(answer_to<worker_registered>(x.last, back).leave);
  EXPECT_FALSE(answers(back, waiting)) << "it has the tasks that it had";
  EXPECT_TRUE(answer_to<worker_drains>(waiting, leaves(1, 11)).left);
}

TEST_F(Draining, WaitsALeaseForWorkersThatAnEarlierDispatcherHad) {
  x.restart();
  EXPECT_FALSE(answers(drain({.which = "host:1"}), last));
  const auto waiting = last;
  EXPECT_EQ(x.core.next_deadline(), x.now + 5s);
  x.now += 5s;
  EXPECT_EQ(answer_to<status>(waiting, x.take(x.core.timer(x.now))).code(), status_code::not_found);
  EXPECT_EQ(x.core.next_deadline(), std::nullopt);
}

TEST_F(Draining, IsBegunAnewByWhoAsksADispatcherThatForgotIt) {
  const auto said = progress(drain({.which = "host:1"}));
  driven_dispatcher other; // a dispatcher without the stored facts
  other.add_worker("host:1", 11, worker_id{1});
  EXPECT_FALSE(other.core.record().drains(worker_id{1}));
  other.take(other.core.drain_worker(request_token{1}, follow(said), other.now));
  EXPECT_TRUE(other.core.record().drains(worker_id{1}));
}

TEST_F(Draining, ForgetsWhoDoesNotWaitForTheAnswer) {
  drain({.which = "host:1", .known = 0});
  x.core.asker_gone(last);
  EXPECT_FALSE(answers(leaves(1, 11), last));
}

TEST_F(Draining, IsPromisedWhenItIsKept) {
  for (const auto& one : drain({.which = "host:1"}))
    if (std::holds_alternative<answer>(one)) {
      EXPECT_TRUE(waits_for_facts(one));
    }
}

} // namespace
} // namespace headrace::detail::test
