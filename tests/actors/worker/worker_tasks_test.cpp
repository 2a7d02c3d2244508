#include "tests/actors/worker/worker_core_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

// -- orders ------------------------------------------------------------------------------------

TEST_F(WorkerCore, AnswersAnOrderOnceTheTaskIsTaken) {
  registered();
  EXPECT_EQ(said(core.start_task(first, order(7), now)), (texts{"run 7 of 1"}));
  EXPECT_EQ(said(core.task_taken(task_id{7}, {})), (texts{"log info task started", "answer 1 ok"}));
  EXPECT_TRUE(has_task(7));
}

TEST_F(WorkerCore, RefusesATaskThatCannotBeTaken) {
  registered();
  core.start_task(first, order(7), now);
  EXPECT_EQ(said(core.task_taken(task_id{7}, not_found("no graph"))),
            (texts{"answer 1 not_found: no graph"}));
  EXPECT_FALSE(has_task(7));
  EXPECT_EQ(said(core.start_task(second, order(7), now)), (texts{"run 7 of 2"}));
}

TEST_F(WorkerCore, LeavesATaskThatIsOrderedAgainAsItIsAndAsksItsQuestionAgain) {
  registered();
  running(7);
  asks(7, 0);
  EXPECT_EQ(said(core.start_task(second, order(7), now)),
            (texts{"ask 7 #2 0,0,0", "readers of 7: 0 of version 0", "answer 2 ok"}));
}

TEST_F(WorkerCore, SaysToATaskThatIsOrderedAgainWhoReadsItNow) {
  registered();
  running(7);
  auto again = order(7);
  again.readers = {task_id{7}, 3, {consumer_id{2}}};
  // The job takes the answer as an acknowledgement of the readers that the order names, so the
  // worker must pass these readers on to the task.
  EXPECT_EQ(said(core.start_task(second, again, now)),
            (texts{"readers of 7: 1 of version 3", "answer 2 ok"}));
}

TEST_F(WorkerCore, SaysTheEndOfATaskAgainThatIsOrderedAgain) {
  registered();
  running(7);
  ends(7, 30);
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(core.start_task(second, order(7), now)),
            (texts{"end 7 exhausted 30", "answer 2 ok"}));
}

TEST_F(WorkerCore, DoesNotRunATaskFromItsBeginningThatItHadAndHasNoMore) {
  registered();
  auto goes_on = order(7);
  goes_on.resumes = true;
  const texts refused{"answer 2 aborted: this worker has task 7 no more"};
  EXPECT_EQ(said(core.start_task(second, goes_on, now)), refused);
  running(7);
  core.stop_task(first, task_id{7}, "refused");
  EXPECT_EQ(said(core.start_task(second, goes_on, now)), refused) << "its actor is about to end";
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(core.start_task(second, goes_on, now)), refused);
}

TEST_F(WorkerCore, GoesOnWithATaskThatItStillHas) {
  registered();
  running(7);
  auto goes_on = order(7);
  goes_on.resumes = true;
  EXPECT_EQ(said(core.start_task(second, goes_on, now)),
            (texts{"readers of 7: 0 of version 0", "answer 2 ok"}));
  ends(7, 30);
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(core.start_task(second, goes_on, now)),
            (texts{"end 7 exhausted 30", "answer 2 ok"}));
}

TEST_F(WorkerCore, StopsATaskThatRunsAndForgetsItOnceItsActorHasEnded) {
  registered();
  running(7);
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")),
            (texts{"log debug task stopped", "stop 7: over", "answer 2 ok"}));
  EXPECT_TRUE(has_task(7));
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_FALSE(has_task(7));
}

TEST_F(WorkerCore, ForgetsATaskBetweenTwoLivesAtOnceWhenItIsStopped) {
  registered();
  running(7);
  core.task_down(task_id{7}, aborted("crash"), false, {});
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")),
            (texts{"log debug task stopped", "fail 7 not_found: the task was stopped: over",
                   "drop 7", "answer 2 ok"}));
  EXPECT_FALSE(has_task(7));
}

TEST_F(WorkerCore, AnswersAStopOfATaskThatIsNotHere) {
  registered();
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")), (texts{"answer 2 ok"}));
}

// -- ends --------------------------------------------------------------------------------------

TEST_F(WorkerCore, SaysAnEndWithEachHeartbeatUntilItIsAcknowledged) {
  registered();
  running(7);
  EXPECT_EQ(said(ends(7, 30)), (texts{"end 7 exhausted 30"}));
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_EQ(said(core.end_unanswered(task_id{7}, deadline_exceeded("5 s"))),
            (texts{"log warn the end of a task was not acknowledged"}));
  EXPECT_EQ(said(core.end_unanswered(task_id{7}, unavailable("no dispatcher"))), texts{});
  EXPECT_EQ(said(after(seconds(1))),
            (texts{"end 7 exhausted 30", "count stuck 5 s", "beat 5 first"}));
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, unavailable("no job"))), texts{});
  EXPECT_EQ(said(after(seconds(1))), (texts{"end 7 exhausted 30", "count stuck 5 s", "beat 5"}));
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), texts{});
  EXPECT_EQ(said(after(seconds(1))), (texts{"count stuck 5 s", "beat 5"}));
}

TEST_F(WorkerCore, SaysWhyATaskFailed) {
  registered();
  running(7);
  EXPECT_EQ(said(ends(7, 3, invalid_argument("bad row"))), (texts{"end 7 failed 3 bad row"}));
}

TEST_F(WorkerCore, KeepsAnEndWhileThereIsNoDispatcher) {
  registered();
  running(7);
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(ends(7, 3)), texts{});
  EXPECT_EQ(said(registered_again()), (texts{"log info registered", "end 7 exhausted 3"}));
  EXPECT_EQ(said(after(seconds(1))),
            (texts{"end 7 exhausted 3", "count stuck 5 s", "beat 5 first 7:3"}));
}

TEST_F(WorkerCore, SaysEndsThatWereNotHeardAgainWhenItRegisters) {
  registered();
  running(7);
  ends(7, 3);
  core.dispatcher_down(unavailable("gone"), now);
  const auto out = registered_again();
  EXPECT_EQ(said(out), (texts{"log info registered", "end 7 exhausted 3"}));
}

TEST_F(WorkerCore, KeepsATaskWhoseActorCrashed) {
  registered();
  running(7);
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), false, {})),
            (texts{"log error task crashed"}));
  EXPECT_TRUE(has_task(7));
}

TEST_F(WorkerCore, NamesTheReadersAgainToATaskWhoseActorCrashed) {
  registered();
  running(7);
  core.name_readers(second, {task_id{7}, 3, {consumer_id{1}}});
  core.name_readers(second, {task_id{7}, 2, {}});
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), false, {})),
            (texts{"log error task crashed", "readers of 7: 1 of version 3"}))
    << "the message may have been in the actor's mailbox";
}

TEST_F(WorkerCore, ForgetsATaskWhoseActorCrashedAfterItWasToStop) {
  registered();
  running(7);
  core.stop_task(second, task_id{7}, "over");
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), false, {})),
            (texts{"log error task crashed", "log debug task stopped",
                   "fail 7 not_found: the task was stopped: over", "drop 7"}));
  EXPECT_FALSE(has_task(7));
}

TEST_F(WorkerCore, FailsATaskWhoseActorDiedInTheMidstOfAChange) {
  registered();
  running(7);
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), true, {.made = {4, 32, 0}})),
            (texts{"log error task crashed",
                   "fail 7 aborted: task 7 broke off in the midst of a change: crash", "drop 7",
                   "end 7 failed 4 task 7 broke off in the midst of a change: crash"}));
  EXPECT_FALSE(has_task(7));
}

TEST_F(WorkerCore, FailsATaskWhoseActorsCrashedTooOften) {
  registered();
  running(7);
  core.task_down(task_id{7}, aborted("crash"), false, {});
  EXPECT_EQ(said(core.task_given_up(task_id{7}, aborted("too often"), {.made = {4, 32, 0}})),
            (texts{"fail 7 aborted: too often", "drop 7", "end 7 failed 4 too often"}));
  EXPECT_EQ(said(core.task_given_up(task_id{7}, aborted("too often"), {})), texts{});
}

} // namespace
} // namespace headrace::detail::test
