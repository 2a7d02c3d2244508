#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A consumer without a trainer, a dispatcher or a task: the test makes the events that these would
/// cause.
class ConsumerCore : public testing::Test {
protected:
  static iteration_view view(std::vector<task_address> tasks) {
    return {.job = job_id{5}, .version = 1, .tasks = std::move(tasks), .shared = true};
  }
  /// Lets the consumer read job 5, which has task 7. The consumer has received 3 elements of the
  /// task's stream and has handed out 2 of them.
  void reads() {
    core.dispatcher_up(now);
    core.answered(1, view({{task_id{7}, incarnation{1}, "worker:1", {}, worker_id{1}}}), now);
    block rows;
    rows.rows = 3;
    rows.columns.push_back(column::of_scalars<int64_t>(std::vector<int64_t>{1, 2, 3}));
    out->add(task_id{7}, std::move(rows));
    std::shared_ptr<const block> current;
    status how;
    ASSERT_EQ(out->try_next(current, how), handout::outcome::rows);
    ASSERT_EQ(out->claim_up_to(2), (std::pair<size_t, size_t>{0, 2}));
  }
  template <class Command>
  static std::vector<Command> only(const consume::commands& in) {
    std::vector<Command> found;
    for (const auto& x : in)
      if (const auto* one = std::get_if<Command>(&x))
        found.push_back(*one);
    return found;
  }
  static bool quits(const consume::commands& in) { return !only<consume::quit>(in).empty(); }
  static bool says_goodbye(const consume::commands& in) {
    return only<consume::say_goodbye>(in).size() == 1;
  }
  consume::commands at_the_next_deadline() {
    now = std::max(now, core.next_deadline().value());
    return core.timer(now);
  }

  const time_point began{1h};
  time_point now = began;
  std::shared_ptr<handout> out = std::make_shared<handout>([] {}, [this] { return now; });
  std::vector<std::string> logged;
  consumer_core core{
    {.dataset_id = "d", .worker_timeout = 10s, .goodbye_timeout = 20s},
    consumer_id{1},
    "dispatcher:1",
    out,
    logger::open({.sink = [this](std::string_view x) { logged.emplace_back(x); }}).value(),
    began};
};

TEST_F(ConsumerCore, LooksAtItsWaitsAHeartbeatAfterItBegan) {
  EXPECT_EQ(core.next_deadline(), began + lease_timing{}.heartbeat);
}

TEST_F(ConsumerCore, WaitsForADispatcherThatIsNotThereAndSaysSoOnce) {
  for (int i = 0; i < 3; ++i) {
    core.dispatcher_unreached(unavailable("nobody listens"), now);
    now += 1500ms;
  }
  EXPECT_FALSE(core.over());
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_THAT(logged[0], testing::AllOf(testing::HasSubstr("dispatcher:1"),
                                        testing::HasSubstr("nobody listens")));
  core.dispatcher_up(now);
  core.answered(1, view({}), now);
  core.dispatcher_down(unavailable("lost"), now);
  core.dispatcher_unreached(invalid_argument("something else"), now);
  EXPECT_FALSE(core.over()) << "one that was there comes back";
}

TEST_F(ConsumerCore, BlamesTheVersionOnlyForDamagedMessages) {
  reads();
  core.linked("worker:1", now);
  core.arrived(task_id{7}, resource_exhausted("not enough memory to decode it"), now);
  std::shared_ptr<const block> current;
  status how;
  ASSERT_EQ(out->claim(), 2);
  ASSERT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_EQ(how.code(), status_code::resource_exhausted);
  EXPECT_THAT(how.message(),
              testing::AllOf(testing::HasSubstr("worker:1"), testing::HasSubstr("memory"),
                             testing::Not(testing::HasSubstr("version"))));
}

TEST_F(ConsumerCore, EndsAtOnceWhereNoWaitingHelps) {
  core.dispatcher_unreached(failed_precondition("speaks 9.3"), now);
  EXPECT_TRUE(core.over());
  std::shared_ptr<const block> current;
  status how;
  ASSERT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_EQ(how, failed_precondition("speaks 9.3"));
}

TEST_F(ConsumerCore, NamesAWorkerThatCannotBeReachedWhereTheOthersGiveNothing) {
  core.dispatcher_up(now);
  core.answered(1,
                view({{task_id{7}, incarnation{1}, "worker:1", {}, worker_id{1}},
                      {task_id{8}, incarnation{1}, "worker:2", {}, worker_id{2}}}),
                now);
  core.linked("worker:1", now);
  core.arrived(task_id{7}, from_task{stream_opened{}}, now);
  core.not_linked("worker:2", unavailable("a wall"), now);
  std::shared_ptr<const block> current;
  status how;
  handout::outcome last{};
  while ((last = out->try_next(current, how)) == handout::outcome::nothing_yet
         && now < began + 1min)
    for (const auto& beat : only<consume::beat>(at_the_next_deadline()))
      core.heartbeat_answered({}, beat.at, now);
  ASSERT_EQ(last, handout::outcome::over);
  EXPECT_THAT(how.message(), testing::HasSubstr("worker:2"));
  EXPECT_THAT(how.message(), testing::HasSubstr("a wall"));
  EXPECT_LT(now, began + 13s) << "the bound is 10 s";
}

/// A consumer that has received everything from its task, and whose link is cut before
/// it can report this to the task.
class ConsumerThatHasAll : public ConsumerCore {
protected:
  status reads_until_the_end(bool shared) {
    auto state = view({{task_id{7}, incarnation{1}, "worker:1", {}, worker_id{1}}});
    state.shared = shared;
    core.dispatcher_up(now);
    core.answered(1, state, now);
    core.linked("worker:1", now);
    core.arrived(task_id{7}, from_task{stream_opened{}}, now);
    core.arrived(task_id{7}, from_task{stream_end{.outcome = task_outcome::exhausted}}, now);
    core.stream_cut(task_id{7}, unavailable("a wall"), now);
    std::shared_ptr<const block> current;
    status how = internal_error("it waits for ever");
    while (out->try_next(current, how) == handout::outcome::nothing_yet && now < began + 1min) {
      const auto done = at_the_next_deadline();
      for (const auto& beat : only<consume::beat>(done)) core.heartbeat_answered({}, beat.at, now);
      if (!only<consume::make_link>(done).empty())
        core.not_linked("worker:1", unavailable("a wall"), now);
    }
    EXPECT_LT(now, began + 13s) << "the bound is 10 s";
    return how;
  }
};

TEST_F(ConsumerThatHasAll, EndsThoughItsTaskDoesNotKnow) {
  EXPECT_EQ(reads_until_the_end(false), status{});
}

TEST_F(ConsumerThatHasAll, NamesTheWorkerWhereOthersReadTheJobToo) {
  EXPECT_THAT(reads_until_the_end(true).message(),
              testing::AllOf(testing::HasSubstr("worker:1"), testing::HasSubstr("a wall")));
}

TEST_F(ConsumerCore, AsksForTheWholeWhereAnAnnouncementWasLost) {
  reads();
  auto change = view({{task_id{9}, incarnation{1}, "worker:2", {}, worker_id{2}}});
  change.version = 4;
  change.since = 3;
  const auto asks = only<consume::ask>(core.told(change, now));
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_TRUE(only<consume::ask>(core.told(change, now)).empty()) << "the question is under way";
  auto whole = view({{task_id{7}, incarnation{1}, "worker:1", {}, worker_id{1}},
                     {task_id{9}, incarnation{1}, "worker:2", {}, worker_id{2}}});
  whole.version = 4;
  EXPECT_EQ(only<consume::make_link>(core.answered(asks[0].number, whole, now)).size(), 1u);
  change.version = 5;
  change.since = 4;
  change.tasks[0] = {task_id{10}, incarnation{1}, "worker:3", {}, worker_id{3}};
  const auto done = core.told(change, now);
  EXPECT_TRUE(only<consume::ask>(done).empty());
  ASSERT_EQ(only<consume::make_link>(done).size(), 1u) << "the others go on";
  EXPECT_EQ(only<consume::make_link>(done)[0].address, "worker:3");
}

TEST_F(ConsumerCore, HandsOutNothingAfterAStopThatBeganBeforeItsFirstHeartbeat) {
  reads();
  now += lease_timing{}.lease;
  EXPECT_EQ(out->claim_up_to(1), (std::pair<size_t, size_t>{0, 0})) << "no timer was run yet";
  EXPECT_TRUE(logged.empty());
  core.timer(now);
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_THAT(logged[0], testing::HasSubstr("did not run"));
}

TEST_F(ConsumerCore, SaysWithEachHeartbeatHowFarItsTrainerIsInABlock) {
  reads();
  core.linked("worker:1", now);
  core.arrived(task_id{7}, from_task{stream_opened{}}, now);
  const auto handed_out = [&] {
    std::vector<uint64_t> marks;
    for (const auto& x : only<consume::send>(at_the_next_deadline()))
      if (const auto* grant = std::get_if<stream_grant>(&x.what))
        marks.push_back(grant->handed_out);
    return marks;
  };
  EXPECT_THAT(handed_out(), testing::ElementsAre(2)) << "it has kept them";
  EXPECT_THAT(handed_out(), testing::IsEmpty()) << "it was said";
  out->claim_up_to(1);
  EXPECT_THAT(handed_out(), testing::ElementsAre(2)) << "the trainer may not have begun with it";
  EXPECT_THAT(handed_out(), testing::ElementsAre(3));
  EXPECT_THAT(handed_out(), testing::IsEmpty());
}

TEST_F(ConsumerCore, DoesNotTakeItsBeginningForAStop) {
  reads();
  at_the_next_deadline();
  EXPECT_THAT(logged, testing::IsEmpty());
}

TEST_F(ConsumerCore, SaysThatItsRowsMayBeOthersWhereItFailsAfterItsLease) {
  reads();
  core.dispatcher_down(unavailable("cut"), now);
  out->claim_up_to(1);
  std::shared_ptr<const block> current;
  status how;
  handout::outcome last{};
  while ((last = out->try_next(current, how)) == handout::outcome::nothing_yet
         && now < began + 1min)
    at_the_next_deadline();
  ASSERT_EQ(last, handout::outcome::over);
  EXPECT_EQ(how.code(), status_code::unavailable);
  EXPECT_THAT(how.message(), testing::HasSubstr("its rows may have gone to other readers"));
}

TEST_F(ConsumerCore, QuitsWhenItsJobHasHeardHowFarItIs) {
  reads();
  const auto left = core.trainer_leaves(now);
  const auto said = only<consume::say_goodbye>(left);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].what.handed_out, (std::map<task_id, uint64_t>{{task_id{7}, 2}}));
  EXPECT_FALSE(quits(left));
  EXPECT_TRUE(quits(core.goodbye_answered({}, now)));
  EXPECT_FALSE(core.next_deadline());
}

TEST_F(ConsumerCore, SaysGoodbyeWhenTheDispatcherIsBackWhereItLeftWithoutOne) {
  reads();
  core.dispatcher_down(unavailable("cut"), now);
  const auto left = core.trainer_leaves(now);
  EXPECT_FALSE(says_goodbye(left));
  EXPECT_FALSE(quits(left));
  now += 3s;
  EXPECT_TRUE(says_goodbye(core.dispatcher_up(now)));
  EXPECT_TRUE(quits(core.goodbye_answered(not_found("no such reader"), now))) << "it is too late";
}

TEST_F(ConsumerCore, RepeatsItsGoodbyeWhereItIsNotAnswered) {
  reads();
  core.trainer_leaves(now);
  core.goodbye_answered(unavailable("the job's actor has ended"), now);
  EXPECT_TRUE(says_goodbye(at_the_next_deadline()));
  const auto late = core.goodbye_unanswered(deadline_exceeded("no answer"), now);
  EXPECT_EQ(only<consume::renew_dispatcher>(late).size(), 1u);
  core.dispatcher_down(unavailable("renewed"), now);
  EXPECT_TRUE(says_goodbye(core.dispatcher_up(now)));
}

TEST_F(ConsumerCore, QuitsWhenNobodyAnswersItsGoodbyeInTime) {
  reads();
  core.trainer_leaves(now);
  EXPECT_TRUE(quits(at_the_next_deadline()));
  EXPECT_EQ(now, began + 20s);
  EXPECT_FALSE(core.next_deadline());
}

TEST_F(ConsumerCore, QuitsAtOnceWhereItKnewNoJob) { EXPECT_TRUE(quits(core.trainer_leaves(now))); }

} // namespace
} // namespace headrace::detail::test
