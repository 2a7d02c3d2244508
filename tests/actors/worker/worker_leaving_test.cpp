#include "tests/actors/worker/worker_core_fixture.hpp"

#include <functional>

namespace headrace::detail::test {
namespace {

// The steps of leaving, and the effect of each event in each step.

class WorkerLeaving : public WorkerCore {
public:
  void draining() {
    registered();
    running(7);
    core.leave(false, now);
    ASSERT_EQ(core.leaving(), step::draining);
  }
  void saying_goodbye() {
    registered();
    core.leave(false, now);
    ASSERT_EQ(core.leaving(), step::saying_goodbye);
  }
  void gone() {
    saying_goodbye();
    core.goodbye_over();
    ASSERT_EQ(core.leaving(), step::gone);
  }
};

TEST_F(WorkerLeaving, GoesAtOnceWhenTheWholeServiceEnds) {
  registered();
  running(7);
  EXPECT_EQ(said(core.leave(true, now)), (texts{"left"}));
  EXPECT_EQ(core.leaving(), step::gone);
}

TEST_F(WorkerLeaving, EndsADrainWhenTheWholeServiceEnds) {
  draining();
  EXPECT_EQ(said(core.leave(false, now)), texts{});
  EXPECT_EQ(core.leaving(), step::draining);
  EXPECT_EQ(said(core.leave(true, now)), (texts{"left"}));
  EXPECT_EQ(core.leaving(), step::gone);
  EXPECT_EQ(said(core.leave(true, now)), texts{});
}

TEST_F(WorkerLeaving, GoesAtOnceWithoutADispatcherWhereItHasNoTask) {
  EXPECT_EQ(said(core.leave(false, now)), (texts{"left"}));
  EXPECT_EQ(core.leaving(), step::gone);
}

TEST_F(WorkerLeaving, SaysGoodbyeAtOnceWithoutTasks) {
  registered();
  EXPECT_EQ(said(core.leave(false, now)), (texts{"goodbye 5"}));
  EXPECT_EQ(core.leaving(), step::saying_goodbye);
  EXPECT_EQ(said(core.goodbye_over()), (texts{"left"}));
  EXPECT_EQ(core.leaving(), step::gone);
}

TEST_F(WorkerLeaving, HasItsTasksFinishAlsoThoseBetweenTwoLives) {
  registered();
  running(7);
  running(8);
  core.task_down(task_id{8}, aborted("crash"), false, {});
  EXPECT_EQ(said(core.leave(false, now)), (texts{"log info leaving", "leaving 7", "leaving 8"}));
  EXPECT_EQ(core.leaving(), step::draining);
  EXPECT_EQ(core.next_deadline(), now + millis(500));
}

TEST_F(WorkerLeaving, GivesBackWhatItsTasksHaveNotBegunAndGoesWhenTheyAreHeard) {
  draining();
  auto what = news(7, 20);
  what.unread = {{{.source = 0, .pass = 0, .answered = 1, .rest = {4, 6}}}};
  EXPECT_EQ(said(core.task_reported(what, now)), texts{});
  EXPECT_EQ(said(ends(7, 30)), (texts{"end 7 left 30 unread 4+6"}));
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_EQ(core.leaving(), step::draining) << "the end is not acknowledged";
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), (texts{"goodbye 5"}));
  EXPECT_EQ(core.leaving(), step::saying_goodbye);
}

TEST_F(WorkerLeaving, GoesWhenTheLastActorEndsAfterItsEndWasHeard) {
  draining();
  ends(7, 30);
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), texts{}) << "the task is still here";
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7", "goodbye 5"}));
}

TEST_F(WorkerLeaving, WaitsForEndsThatWereNotHeardBeforeItWasAskedToLeave) {
  registered();
  running(7);
  ends(7, 30);
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(core.leave(false, now)), texts{});
  EXPECT_EQ(core.leaving(), step::draining);
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), (texts{"goodbye 5"}));
}

TEST_F(WorkerLeaving, LeavesTasksThatAreNotThroughToItsJobWhenTheDrainIsOver) {
  draining();
  auto what = news(7, 20);
  what.unread = {{{.source = 0, .pass = 0, .answered = 1, .rest = {4, 6}}}};
  core.task_reported(what, now);
  EXPECT_EQ(said(after(millis(500))),
            (texts{"log warn what a task had begun is lost: it did not reach its consumers in time",
                   "close 7", "goodbye 5 unfinished 1"}));
  EXPECT_EQ(core.leaving(), step::saying_goodbye);
}

TEST_F(WorkerLeaving, GoesWithoutAGoodbyeWhenTheDrainIsOverAndTheDispatcherIsAway) {
  draining();
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(after(millis(500))),
            (texts{"log warn what a task had begun is lost: it did not reach its consumers in time",
                   "close 7", "left"}));
  EXPECT_EQ(core.leaving(), step::gone);
}

TEST_F(WorkerLeaving, DrainsAlsoWhileItsDispatcherIsAway) {
  registered();
  running(7);
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(core.leave(false, now)), (texts{"log info leaving", "leaving 7"}));
  EXPECT_EQ(core.leaving(), step::draining);
  EXPECT_EQ(core.next_deadline(), now + millis(500));
  EXPECT_EQ(said(ends(7, 30)), texts{}) << "there is nobody to tell";
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7"}));
  EXPECT_EQ(core.leaving(), step::draining) << "it may be back in time to be told";
  EXPECT_EQ(said(registered_again()), (texts{"log info registered", "end 7 left 30"}));
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), (texts{"goodbye 5"}));
}

TEST_F(WorkerLeaving, GoesWhenTheDrainIsOverThoughNobodyHeardOfItsEnds) {
  registered();
  running(7);
  core.dispatcher_down(unavailable("gone"), now);
  core.leave(false, now);
  ends(7, 30);
  core.task_down(task_id{7}, {}, false, {});
  EXPECT_EQ(said(after(millis(500))), (texts{"left"}));
  EXPECT_EQ(core.leaving(), step::gone);
}

TEST_F(WorkerLeaving, FailsATaskThatCrashesWhileItLeavesAndGoesWhenThatIsHeard) {
  draining();
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), true, {})).back(),
            "end 7 failed 0 task 7 broke off in the midst of a change: crash");
  EXPECT_EQ(said(core.end_acknowledged(task_id{7}, {})), (texts{"goodbye 5"}));
}

// Checks every step after `staying`.
TEST_F(WorkerLeaving, TakesNoTaskInAnyStep) {
  using enter = void (WorkerLeaving::*)();
  for (const enter in :
       {&WorkerLeaving::draining, &WorkerLeaving::saying_goodbye, &WorkerLeaving::gone}) {
    core = worker_core{{}};
    connection = 0;
    (this->*in)();
    EXPECT_EQ(said(core.start_task(second, order(9), now)),
              (texts{"answer 2 unavailable: this worker is about to end"}));
    EXPECT_EQ(said(core.leave(false, now)), texts{}) << "asked again";
    EXPECT_EQ(said(core.stop_task(second, task_id{9}, "over")), (texts{"answer 2 ok"}));
  }
}

TEST_F(WorkerLeaving, GoesOnBeatingWhileItDrains) {
  registered();
  running(7);
  after(millis(600));
  core.leave(false, now);
  EXPECT_EQ(said(after(millis(400))), (texts{"count stuck 5 s", "beat 5 first leaving 7:0"}));
  EXPECT_EQ(core.leaving(), step::draining);
}

TEST_F(WorkerLeaving, AGoodbyeIsOverOnceAndOnlyAfterItWasSaid) {
  draining();
  EXPECT_EQ(said(core.goodbye_over()), texts{});
  EXPECT_EQ(core.leaving(), step::draining);
  after(millis(500));
  EXPECT_EQ(said(core.goodbye_over()), (texts{"left"}));
  EXPECT_EQ(said(core.goodbye_over()), texts{});
}

TEST_F(WorkerLeaving, SaysNothingMoreToADispatcherAfterItsGoodbye) {
  saying_goodbye();
  EXPECT_EQ(said(after(seconds(2))), texts{}) << "a heartbeat would bring it back";
  EXPECT_EQ(said(core.dispatcher_down(unavailable("cut"), now)),
            (texts{"log warn dispatcher lost"}));
  EXPECT_EQ(said(connected()), texts{}) << "so would a registration";
  core.goodbye_over();
  EXPECT_EQ(said(connected()), texts{});
  EXPECT_EQ(said(core.dispatcher_down(unavailable("cut"), now)), texts{}) << "it is not needed";
  EXPECT_EQ(core.next_deadline(), std::nullopt);
}

TEST_F(WorkerLeaving, HasATaskLeaveWhoseActorCrashedAfterItWasToLeave) {
  draining();
  EXPECT_EQ(said(core.task_down(task_id{7}, aborted("crash"), false, {})),
            (texts{"log error task crashed", "leaving 7"}));
}

TEST_F(WorkerLeaving, GoesWhenItsLastTaskIsStoppedBetweenTwoLives) {
  draining();
  core.task_down(task_id{7}, aborted("crash"), false, {});
  core.stop_task(second, task_id{7}, "over");
  EXPECT_EQ(core.leaving(), step::saying_goodbye);
}

// -- at the request of the dispatcher

TEST_F(WorkerLeaving, LeavesAsItsDispatcherWantsAndSaysSoToWhoRunsIt) {
  registered();
  running(7);
  EXPECT_EQ(said(core.heartbeat_answered(connection, heartbeat_heard{.leave = true}, now)),
            (texts{"log info leaving", "leaving 7"}));
  EXPECT_EQ(core.leaving(), step::draining);
  EXPECT_EQ(core.next_deadline(), now + millis(500));
  ends(7, 30);
  core.end_acknowledged(task_id{7}, {});
  EXPECT_EQ(said(core.task_down(task_id{7}, {}, false, {})), (texts{"drop 7", "goodbye 5"}));
  EXPECT_EQ(said(core.goodbye_over()), (texts{"left as ordered"}));
  EXPECT_EQ(said(core.leave(false, now)), (texts{"left"})) << "who runs it ends it now";
}

TEST_F(WorkerLeaving, LeavesWhereItsRegistrationIsAnsweredWithThat) {
  connected();
  EXPECT_EQ(said(core.registered(
              connection, worker_registered{worker_id{5}, {seconds(1), seconds(5)}, true}, now)),
            (texts{"log info registered", "goodbye 5"}));
  EXPECT_EQ(said(core.goodbye_over()), (texts{"left as ordered"}));
}

TEST_F(WorkerLeaving, HearsTheOrderToLeaveManyTimesAndLeavesOnce) {
  registered();
  running(7);
  core.heartbeat_answered(connection, heartbeat_heard{.leave = true}, now);
  EXPECT_EQ(said(core.heartbeat_answered(connection, heartbeat_heard{.leave = true}, now)),
            texts{});
  EXPECT_EQ(core.next_deadline(), now + millis(500)) << "it has no more time";
}

TEST_F(WorkerLeaving, TellsANewDispatcherThatItLeaves) {
  draining();
  core.dispatcher_down(unavailable("gone"), now);
  EXPECT_EQ(said(connected()), (texts{"register 5 leaving 7/70"}));
}

TEST_F(WorkerLeaving, IsStoppedByASignalWhileItLeavesAsItsDispatcherWants) {
  registered();
  running(7);
  core.heartbeat_answered(connection, heartbeat_heard{.leave = true}, now);
  EXPECT_EQ(said(core.leave(false, now)), texts{}) << "it leaves already";
  after(millis(500));
  EXPECT_EQ(said(core.goodbye_over()), (texts{"left"}));
}

TEST_F(WorkerLeaving, GoesAtOnceWithTheWholeServiceAlsoWhileItLeavesAsItsDispatcherWants) {
  registered();
  running(7);
  core.heartbeat_answered(connection, heartbeat_heard{.leave = true}, now);
  EXPECT_EQ(said(core.leave(true, now)), (texts{"left"}));
}

TEST_F(WorkerLeaving, PassesQuestionsOnWhileItDrains) {
  draining();
  EXPECT_EQ(said(asks(7, 0)), (texts{"ask 7 #1 0,0,0"}));
  EXPECT_EQ(said(core.splits_answered(task_id{7}, 1, splits(0, 1))), (texts{"give 7 0,0,0 0+1"}));
}

} // namespace
} // namespace headrace::detail::test
