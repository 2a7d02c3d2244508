#include "tests/actors/worker/worker_core_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
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

} // namespace
} // namespace headrace::detail::test
