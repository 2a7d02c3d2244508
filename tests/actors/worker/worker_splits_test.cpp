#include "tests/actors/worker/worker_core_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

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

} // namespace
} // namespace headrace::detail::test
