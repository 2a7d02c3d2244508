#include "tests/actors/worker/worker_core_fixture.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

/// A worker that gives up its dispatcher when it has waited a minute for an answer.
class DispatcherTimeout : public WorkerCore {
protected:
  DispatcherTimeout() { core.started(now); }
  worker_core core{{.self = {.life = incarnation{9}},
                    .dispatcher = "there:2",
                    .dispatcher_timeout = std::chrono::minutes{1}}};

  worker::commands after(duration by) {
    now += by;
    const auto at = core.next_deadline();
    return at && *at <= now ? core.timer(now) : worker::commands{};
  }
  void up() { core.dispatcher_up(now), ++connection; }
  worker::commands answers(const status& how = {}) {
    if (how.ok())
      return core.registered(connection, worker_registered{worker_id{5}, {seconds(1), seconds(5)}},
                             now);
    return core.registered(connection, how, now);
  }
  static texts given_up(const worker::commands& what) {
    texts out;
    for (const auto& x : what)
      if (const auto* why = std::get_if<worker::report_no_dispatcher>(&x))
        out.push_back(why->why.message());
    return out;
  }
};

TEST_F(DispatcherTimeout, IsOverWhenADispatcherNeverCame) {
  EXPECT_EQ(core.next_deadline(), now + seconds(60));
  core.dispatcher_unreached(unavailable("refused"));
  EXPECT_EQ(said(after(seconds(60) - duration{1})), texts{});
  EXPECT_EQ(said(after(duration{1})),
            (texts{"log error dispatcher given up",
                   "no dispatcher: the dispatcher at there:2 did not answer for 60 s (dispatcher "
                   "timeout): refused"}));
  EXPECT_EQ(core.next_deadline(), std::nullopt) << "it is said once";
}

TEST_F(DispatcherTimeout, BeginsAnewWithEachLoss) {
  for (int i = 0; i < 3; ++i) {
    after(seconds(59));
    up();
    answers();
    EXPECT_EQ(core.next_deadline(), now + seconds(1)) << "the next heartbeat";
    EXPECT_EQ(given_up(after(seconds(61))), texts{});
    core.dispatcher_down(unavailable("gone"), now);
  }
  EXPECT_EQ(given_up(after(seconds(59))), texts{});
  EXPECT_EQ(given_up(after(seconds(1))).size(), 1u);
}

TEST_F(DispatcherTimeout, CountsADispatcherThatAcceptsAndSaysNothingAsAway) {
  for (int i = 0; i < 11; ++i) {
    up();
    EXPECT_EQ(given_up(after(seconds(5))), texts{});
    answers(deadline_exceeded("no answer in 5 s"));
    core.dispatcher_down(deadline_exceeded("no answer in 5 s"), now);
  }
  EXPECT_THAT(given_up(after(seconds(5))), testing::ElementsAre(HasSubstr("no answer in 5 s")));
}

TEST_F(DispatcherTimeout, ADispatcherThatRefusesTheWorkerIsThere) {
  for (int i = 0; i < 20; ++i) {
    up();
    answers(already_exists("another worker has its place"));
    core.dispatcher_down(already_exists("another worker has its place"), now);
    EXPECT_EQ(given_up(after(seconds(10))), texts{});
  }
}

TEST_F(DispatcherTimeout, AWorkerThatLeavesTakesItsTimeInPeace) {
  core.start_task(first, order(7), now);
  core.task_running(task_id{7});
  core.task_taken(task_id{7}, {});
  after(seconds(60) - millis(1));
  core.leave(false, now);
  EXPECT_EQ(given_up(after(millis(100))), texts{});
}

TEST_F(WorkerCore, WaitsForItsDispatcherForEverWhereItHasNoTimeOut) {
  core.started(now);
  EXPECT_EQ(core.next_deadline(), std::nullopt);
  core.dispatcher_unreached(unavailable("refused"));
  EXPECT_EQ(core.next_deadline(), std::nullopt);
}

// -- the interval of heartbeats ----------------------------------------------------------------

TEST(WorkerHeartbeat, IsItsOwnWhereItHasOneAndNeverMoreThanHalfOfTheLease) {
  using namespace std::chrono_literals;
  const time_point now{1h};
  for (const auto& [own, every] :
       std::vector<std::pair<duration, duration>>{{200ms, 200ms}, {2s, 2s}, {3s, 2500ms}}) {
    worker_core core{{.self = {.life = incarnation{9}}, .dispatcher = "there:2", .heartbeat = own}};
    core.dispatcher_up(now);
    const auto out =
      command_text::of(core.registered(1, worker_registered{worker_id{5}, {1s, 5s}}, now));
    EXPECT_EQ(core.next_deadline(), now + every);
    EXPECT_EQ(testing::Value(out, testing::Contains(HasSubstr("more frequent than asked"))),
              every < own);
    core.timer(now + every);
    EXPECT_EQ(core.next_deadline(), now + 2 * every);
  }
}

} // namespace
} // namespace headrace::detail::test
