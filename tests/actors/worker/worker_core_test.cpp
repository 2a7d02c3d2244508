#include "tests/actors/worker/worker_core_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::test {
namespace {

// -- the dispatcher --------------------------------------------------------------------------

TEST_F(WorkerCore, RegistersWithADispatcherThatComes) {
  const auto out = connected();
  ASSERT_EQ(said(out), (texts{"register 0"}));
  const auto& who = std::get<worker::register_here>(out[0]).who.info;
  EXPECT_EQ(who, (worker_info{{}, incarnation{9}, "host:1", "boot", {"gpu"}, 4}));
  EXPECT_EQ(core.next_deadline(), std::nullopt);
  EXPECT_EQ(said(core.registered(connection,
                                 worker_registered{worker_id{5}, {seconds(1), seconds(5)}}, now)),
            (texts{"log info registered"}));
  EXPECT_EQ(core.id(), worker_id{5});
  EXPECT_EQ(core.next_deadline(), now + seconds(1));
}

TEST_F(WorkerCore, RegistersAnewWithItsIdItsTasksAndItsQuestions) {
  registered();
  running(7);
  running(8);
  asks(8, 2);
  EXPECT_EQ(said(core.dispatcher_down(unavailable("gone"), now)),
            (texts{"log warn dispatcher lost"}));
  EXPECT_EQ(said(connected()), (texts{"register 5 7/70 8/70"}));
  EXPECT_EQ(said(core.registered(connection,
                                 worker_registered{worker_id{5}, {seconds(1), seconds(5)}}, now)),
            (texts{"log info registered", "ask 8 #2 0,0,2"}));
}

TEST_F(WorkerCore, LooksForTheDispatcherAnewWhenARegistrationFails) {
  connected();
  EXPECT_EQ(said(core.registered(connection, deadline_exceeded("no answer"), now)),
            (texts{"renew deadline_exceeded: no answer"}));
  EXPECT_EQ(core.next_deadline(), std::nullopt);
  EXPECT_FALSE(core.id());
}

TEST_F(WorkerCore, SaysOnceThatOthersHaveItsPlaceAndAsksOn) {
  connected();
  const auto taken = already_exists("its entry is that of another");
  EXPECT_EQ(said(core.registered(connection, taken, now)),
            (texts{"log warn refused by the dispatcher", "renew " + to_string(taken)}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said(core.dispatcher_down(taken, now)), texts{});
    EXPECT_EQ(said(connected()), (texts{"register 0"}));
    EXPECT_EQ(said(core.registered(connection, taken, now)), (texts{"renew " + to_string(taken)}));
  }
  EXPECT_EQ(said(core.dispatcher_down(unavailable("cut"), now)),
            (texts{"log warn dispatcher lost"}));
  EXPECT_EQ(said(registered_again()), (texts{"log info registered"}));
  connected();
  EXPECT_EQ(said(core.registered(connection, taken, now)).front(),
            "log warn refused by the dispatcher")
    << "again, as it had a place meanwhile";
}

TEST_F(WorkerCore, ReportsThatItIsNotInTheDispatchersList) {
  connected();
  const status none{status_code::permission_denied, "no entry"};
  EXPECT_EQ(said(core.registered(connection, none, now)),
            (texts{"log warn refused by the dispatcher", "not listed no entry",
                   "renew " + to_string(none)}));
  connected();
  EXPECT_EQ(said(core.registered(connection, none, now)), (texts{"renew " + to_string(none)}));
}

TEST_F(WorkerCore, StopsItsTasksWhereOthersHaveItsPlace) {
  for (const auto code : {status_code::already_exists, status_code::permission_denied}) {
    registered();
    running(7);
    core.dispatcher_down(unavailable("gone"), now);
    connected();
    const auto out = said(core.registered(connection, status{code, "no entry"}, now));
    EXPECT_THAT(out, testing::Contains(testing::HasSubstr("stop 7")));
    core.task_down(task_id{7}, {}, false, {});
  }
  registered();
  running(7);
  connected();
  EXPECT_THAT(said(core.registered(connection, unavailable("later"), now)),
              testing::Not(testing::Contains(testing::HasSubstr("stop 7"))));
}

TEST_F(WorkerCore, LogsEachReasonWhyTheDispatcherIsNotReachedOnce) {
  EXPECT_EQ(said(core.dispatcher_unreached(unavailable("refused"))),
            (texts{"log warn dispatcher not reached"}));
  EXPECT_EQ(said(core.dispatcher_unreached(unavailable("refused"))), texts{});
  EXPECT_EQ(said(core.dispatcher_unreached(unavailable("no route"))),
            (texts{"log warn dispatcher not reached"}));
  connected();
  EXPECT_EQ(said(core.dispatcher_unreached(unavailable("no route"))),
            (texts{"log warn dispatcher not reached"}));
}

TEST_F(WorkerCore, ReportsADispatcherOfAnotherVersionOnce) {
  const auto why = failed_precondition("version 2");
  EXPECT_EQ(said(core.dispatcher_unreached(why)),
            (texts{"log warn dispatcher not reached", "other version version 2"}));
  EXPECT_EQ(said(core.dispatcher_unreached(why)), texts{});
}

// -- heartbeats ------------------------------------------------------------------------------

TEST_F(WorkerCore, BeatsAtTheDispatchersPaceAndSaysWhatItsTasksMade) {
  registered();
  running(7);
  core.task_reported(news(7, 30), now);
  EXPECT_EQ(said(after(millis(999))), texts{});
  EXPECT_EQ(said(after(millis(1))), (texts{"count stuck 5 s", "beat 5 first 7:30"}));
  core.task_reported(news(7, 90), now);
  const auto out = after(seconds(1));
  ASSERT_EQ(said(out), (texts{"count stuck 5 s", "beat 5 7:90"}));
  EXPECT_DOUBLE_EQ(std::get<worker::heartbeat>(out[1]).tasks[0].elements_per_second, 45);
  EXPECT_EQ(core.next_deadline(), now + seconds(1));
}

TEST_F(WorkerCore, StopsBeatingWhileThereIsNoDispatcherAndBeginsAfterTheNextRegistration) {
  registered();
  after(seconds(1));
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(after(seconds(1))), (texts{"count stuck 5 s"}));
  EXPECT_EQ(core.next_deadline(), std::nullopt);
  registered();
  EXPECT_EQ(said(after(seconds(1))), (texts{"count stuck 5 s", "beat 5 first"}));
}

TEST_F(WorkerCore, LooksForTheDispatcherAnewWhenAHeartbeatFails) {
  registered();
  EXPECT_EQ(said(core.heartbeat_answered(connection, heartbeat_heard{}, now)), texts{});
  EXPECT_EQ(said(core.heartbeat_answered(connection, not_found("who is that"), now)),
            (texts{"renew not_found: who is that"}));
}

TEST_F(WorkerCore, IgnoresWhatConcernsAnEarlierConnection) {
  registered();
  const auto earlier = connection;
  core.dispatcher_down(unavailable("gone"), now);
  connected();
  EXPECT_EQ(said(core.heartbeat_answered(earlier, deadline_exceeded("5 s"), now)), texts{});
  EXPECT_EQ(said(core.registered(earlier, deadline_exceeded("5 s"), now)), texts{});
  EXPECT_EQ(said(core.registered(connection,
                                 worker_registered{worker_id{5}, {seconds(1), seconds(5)}}, now)),
            (texts{"log info registered"}));
}

TEST_F(WorkerCore, StopsTheTasksThatNoJobNeeds) {
  registered();
  running(7);
  running(8);
  EXPECT_EQ(
    said(core.heartbeat_answered(connection, heartbeat_heard{{task_id{8}, task_id{9}}}, now)),
    (texts{"log debug task stopped", "stop 8: its job is over"}));
}

TEST_F(WorkerCore, PassesOnWhoReadsATask) {
  registered();
  running(7);
  EXPECT_EQ(said(core.name_readers(second, {task_id{7}, 3, {consumer_id{1}, consumer_id{2}}})),
            (texts{"readers of 7: 2 of version 3", "answer 2 ok"}));
  EXPECT_EQ(said(core.name_readers(second, {task_id{9}, 3, {}})),
            (texts{"answer 2 not_found: this worker has no task 9"}));
}

TEST_F(WorkerCore, ReportsStuckThreadsOnceTheyAreTooMany) {
  registered();
  running(7);
  EXPECT_EQ(said(core.stuck_counted(1)), texts{});
  EXPECT_EQ(said(core.stuck_counted(2)),
            (texts{"log error threads are stuck", "stuck resource_exhausted"}));
  EXPECT_EQ(said(core.stuck_counted(3)), texts{});
}

TEST_F(WorkerCore, TakesNoTaskWhileOneMoreStuckThreadWouldBeTooMany) {
  registered();
  running(7);
  core.stuck_counted(1);
  const auto out = core.start_task(second, order(8), now);
  ASSERT_EQ(out.size(), 1u);
  const auto& how = std::get<worker::answer>(out[0]).how;
  EXPECT_EQ(how.code(), status_code::unavailable);
  EXPECT_THAT(how.message(), testing::HasSubstr("hang in foreign code"));
  EXPECT_EQ(said(core.start_task(second, order(7), now)).back(), "answer 2 ok") << "it runs";
  core.stuck_counted(0);
  EXPECT_EQ(said(core.start_task(second, order(8), now)), (texts{"run 8 of 2"}))
    << "the thread came to its end";
}

TEST_F(WorkerCore, EndsTheProcessOnceItHasNoTaskAndCouldTakeNone) {
  registered();
  running(7);
  EXPECT_EQ(said(core.stuck_counted(1)), texts{});
  ends(7, 3);
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(core.stuck_counted(1)),
            (texts{"log error threads are stuck", "stuck resource_exhausted"}));
}

// -- orders ------------------------------------------------------------------------------------

TEST_F(WorkerCore, AnswersAnOrderOnceTheTaskIsTaken) {
  registered();
  EXPECT_EQ(said(core.start_task(first, order(7), now)), (texts{"run 7 of 1"}));
  EXPECT_EQ(said(core.task_taken(task_id{7}, {})), (texts{"log info task started", "answer 1 ok"}));
  EXPECT_TRUE(core.has_task(task_id{7}));
}

TEST_F(WorkerCore, RefusesATaskThatCannotBeTaken) {
  registered();
  core.start_task(first, order(7), now);
  EXPECT_EQ(said(core.task_taken(task_id{7}, not_found("no graph"))),
            (texts{"answer 1 not_found: no graph"}));
  EXPECT_FALSE(core.has_task(task_id{7}));
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
  // The job takes the answer for the task's word that it knows them.
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

TEST_F(WorkerCore, StopsATaskThatRunsAndForgetsItOnceItsActorHasEnded) {
  registered();
  running(7);
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")),
            (texts{"log debug task stopped", "stop 7: over", "answer 2 ok"}));
  EXPECT_TRUE(core.has_task(task_id{7}));
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_FALSE(core.has_task(task_id{7}));
}

TEST_F(WorkerCore, ForgetsATaskBetweenTwoLivesAtOnceWhenItIsStopped) {
  registered();
  running(7);
  core.task_down(task_id{7}, aborted("crash"), false, {});
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")),
            (texts{"log debug task stopped", "fail 7 not_found: the task was stopped: over",
                   "drop 7", "answer 2 ok"}));
  EXPECT_FALSE(core.has_task(task_id{7}));
}

TEST_F(WorkerCore, AnswersAStopOfATaskThatIsNotHere) {
  registered();
  EXPECT_EQ(said(core.stop_task(second, task_id{7}, "over")), (texts{"answer 2 ok"}));
}

// -- splits --------------------------------------------------------------------------------------

TEST_F(WorkerCore, PassesAQuestionOnAndItsAnswerBack) {
  registered();
  running(7);
  const auto out = asks(7, 4);
  ASSERT_EQ(said(out), (texts{"ask 7 #1 0,0,4"}));
  const auto& what = std::get<worker::ask_splits>(out[0]).what;
  EXPECT_EQ(what.life, incarnation{3});
  EXPECT_EQ(what.job, job_id{70});
  EXPECT_EQ(what.wish.total, 100u);
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(10, 5))), (texts{"give 7 0,0,4 10+5"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(10, 5))), texts{})
    << "it is answered once";
}

TEST_F(WorkerCore, GivesTheEndOfAPassAndAFailureToTheTaskToo) {
  registered();
  running(7);
  asks(7, 0);
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, lease_answer{})),
            (texts{"give 7 0,0,0 over"}));
  asks(7, 1);
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, aborted("no"))),
            (texts{"give 7 0,0,1 aborted: no"}));
}

TEST_F(WorkerCore, IgnoresTheAnswerToAnEarlierRequest) {
  registered();
  running(7);
  asks(7, 0);
  EXPECT_EQ(said(core.splits_unanswered(task_id{7}, 1, deadline_exceeded("5 s"))),
            (texts{"ask 7 #2 0,0,0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(0, 1))), texts{});
  EXPECT_EQ(said(core.splits_unanswered(task_id{7}, 1, deadline_exceeded("5 s"))), texts{});
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, splits(0, 1))), (texts{"give 7 0,0,0 0+1"}));
}

TEST_F(WorkerCore, AsksAQuestionThatIsReportedAgainOnce) {
  registered();
  running(7);
  EXPECT_EQ(said(asks(7, 0)), (texts{"ask 7 #1 0,0,0"}));
  EXPECT_EQ(said(asks(7, 0)), texts{});
  EXPECT_EQ(said(asks(7, 1)), (texts{"ask 7 #2 0,0,1"}));
}

TEST_F(WorkerCore, AnswersEachOfTheQuestionsThatATaskHasAtOnce) {
  registered();
  running(7);
  asks(7, 0);
  auto other = news(7);
  other.wants = {.which = {1, 0, 0}};
  EXPECT_EQ(said(core.task_reported(other, now)), (texts{"ask 7 #2 1,0,0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, splits(3, 1))), (texts{"give 7 1,0,0 3+1"}));
  EXPECT_EQ(said(core.splits_unanswered(task_id{7}, 1, deadline_exceeded("5 s"))),
            (texts{"ask 7 #3 0,0,0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 3, splits(0, 1))), (texts{"give 7 0,0,0 0+1"}));
}

TEST_F(WorkerCore, RepeatsWhatATaskClosedUntilItIsAcknowledged) {
  registered();
  running(7);
  EXPECT_EQ(said(closes(7, 0, 1, {3, 5})), (texts{"ask 7 #1 0,0,1 closes 3+5"}));
  core.splits_unanswered(task_id{7}, 1, unavailable("it ended"));
  EXPECT_EQ(said(after(seconds(1))),
            (texts{"ask 7 #2 0,0,1 closes 3+5", "count stuck 5 s", "beat 5 first 7:0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, lease_answer{})),
            (texts{"give 7 0,0,1 over"}));
  EXPECT_EQ(said(ends(7, 30)), (texts{"end 7 exhausted 30"}));
}

TEST_F(WorkerCore, SaysWhatATaskClosedWithItsEndWhenThatIsNotAcknowledged) {
  registered();
  running(7);
  closes(7, 0, 1, {3, 5});
  auto what = news(7, 30);
  what.ended = status{};
  what.by_itself = true;
  EXPECT_EQ(said(core.task_reported(what, now)),
            (texts{"end 7 exhausted 30 closed 3+5 by itself"}));
}

TEST_F(WorkerCore, ClosesAPassInWhichAnEarlierRunnerAskedForMore) {
  registered();
  running(7);
  asks(7, 1);
  EXPECT_EQ(said(closes(7, 0, 1, {3, 5})), (texts{"ask 7 #2 0,0,1 closes 3+5"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(8, 1))), texts{})
    << "that is no acknowledgement";
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, lease_answer{})),
            (texts{"give 7 0,0,1 over"}));
}

TEST_F(WorkerCore, AsksWithTheNextHeartbeatWhenAJobEndedThatHadTheQuestion) {
  registered();
  running(7);
  asks(7, 0);
  EXPECT_EQ(said(core.splits_unanswered(task_id{7}, 1, unavailable("it ended"))), texts{});
  EXPECT_EQ(said(after(seconds(1))),
            (texts{"ask 7 #2 0,0,0", "count stuck 5 s", "beat 5 first 7:0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 2, unavailable("no job"))), texts{});
  EXPECT_EQ(said(after(seconds(1))), (texts{"ask 7 #3 0,0,0", "count stuck 5 s", "beat 5 7:0"}));
  EXPECT_EQ(said(after(seconds(1))), (texts{"count stuck 5 s", "beat 5 7:0"}));
}

TEST_F(WorkerCore, KeepsAQuestionUntilThereIsADispatcher) {
  registered();
  running(7);
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(asks(7, 0)), texts{});
  connected();
  EXPECT_EQ(said(core.registered(connection,
                                 worker_registered{worker_id{5}, {seconds(1), seconds(5)}}, now)),
            (texts{"log info registered", "ask 7 #1 0,0,0"}));
}

TEST_F(WorkerCore, DropsAnAnswerForATaskBetweenTwoLivesWhichAsksAgain) {
  registered();
  running(7);
  asks(7, 0);
  core.task_down(task_id{7}, aborted("crash"), false, {});
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(0, 1))), texts{});
  core.task_running(task_id{7});
  EXPECT_EQ(said(asks(7, 0)), (texts{"ask 7 #2 0,0,0"}));
}

// -- ends
// ------------------------------------------------------------------------------------------

TEST_F(WorkerCore, SaysAnEndWithEachHeartbeatUntilItIsAcknowledged) {
  registered();
  running(7);
  EXPECT_EQ(said(ends(7, 30)), (texts{"end 7 exhausted 30"}));
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_EQ(said(core.end_unanswered(task_id{7}, deadline_exceeded("5 s"))),
            (texts{"log warn the end of a task was not heard"}));
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
  EXPECT_TRUE(core.has_task(task_id{7}));
}

TEST_F(WorkerCore, FailsATaskWhoseActorDiedInTheMidstOfAChange) {
  registered();
  running(7);
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), true, {.made = {4, 32, 0}})),
            (texts{"log error task crashed",
                   "fail 7 aborted: task 7 broke off in the midst of a change: crash", "drop 7",
                   "end 7 failed 4 task 7 broke off in the midst of a change: crash"}));
  EXPECT_FALSE(core.has_task(task_id{7}));
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
} // namespace headrace::test
