#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

constexpr task_id task{7};

/// The core of a consumer of a shared job.
class ConsumerReceipts : public testing::Test {
protected:
  explicit ConsumerReceipts(sharding_policy mode = sharding_policy::dynamic,
                            round_view rounds = {}) {
    core.emplace(consumer_options{.dataset_id = "d",
                                  .job_name = "j",
                                  .parameters = {.mode = mode, .num_consumers = rounds.consumers}},
                 consumer_id{1}, "host:1", out, logger{}, now);
    view.rounds = std::move(rounds);
    core->dispatcher_up(now);
    view.job = job_id{2};
    view.shared = true;
    view.tasks = {{task, incarnation{1}, "host:9", {}, worker_id{3}}};
    core->answered(1, view, now);
    core->linked("host:9", now);
    core->arrived(task, from_task{stream_opened{}}, now);
  }
  void sends(uint64_t first, size_t rows, uint64_t split) {
    block b;
    b.rows = rows;
    b.columns.push_back(column::of_scalars<int64_t>(std::vector<int64_t>(rows)));
    b.origins = {{.rows = static_cast<uint32_t>(rows), .split = split, .step = 1}};
    core->arrived(task, from_task{stream_block{first, std::move(b)}}, now);
  }
  /// The trainer is given this number of rows.
  void take(size_t rows) {
    std::shared_ptr<const block> current;
    status how;
    for (size_t i = 0; i < rows; ++i)
      if (out->claim() < 0) {
        ASSERT_EQ(out->try_next(current, how), handout::outcome::rows);
        ASSERT_EQ(out->claim(), 0);
      }
  }
  consume::commands loses() {
    view.tasks.clear();
    view.lost = {task};
    ++view.version;
    return core->told(view, now);
  }
  template <class Command>
  static const Command* last(const consume::commands& in) {
    const Command* out = nullptr;
    for (const auto& x : in)
      if (const auto* one = std::get_if<Command>(&x))
        out = one;
    return out;
  }
  /// Advances the time until the consumer sends a heartbeat, and returns the heartbeat.
  consume::beat beats() {
    now = *core->next_deadline();
    const auto did = core->timer(now);
    const auto* beat = last<consume::beat>(did);
    return beat != nullptr ? *beat : beats();
  }

  time_point now{1h};
  std::shared_ptr<handout> out = std::make_shared<handout>([] {});
  iteration_view view{.version = 1, .timing = {1s, 5s}};
  std::optional<consumer_core> core;
};

TEST_F(ConsumerReceipts, SaysAtOnceWhatItGotOfALostTaskAndUntilItIsAnswered) {
  sends(0, 3, 20);
  EXPECT_TRUE(beats().what.receipts.empty()) << "nothing is lost";
  const auto did = loses();
  const auto* first = last<consume::beat>(did);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->what.receipts.size(), 1u);
  const auto& receipt = first->what.receipts[0];
  EXPECT_EQ(receipt.task, task);
  EXPECT_EQ(receipt.reached, (std::vector<split_run>{{0, 0, {20, 3}}}));
  EXPECT_EQ(receipt.newest, (split_run{0, 0, {22, 1}}));
  core->heartbeat_unanswered(unavailable("lost"));
  const auto again = beats();
  EXPECT_EQ(again.what.receipts, first->what.receipts);
  core->heartbeat_answered({}, again.at, now);
  EXPECT_TRUE(beats().what.receipts.empty()) << "the job has it";
}

TEST_F(ConsumerReceipts, AreNotTakenForHeardByTheAnswerToAnEarlierHeartbeat) {
  const auto earlier = beats();
  loses();
  core->heartbeat_answered({}, earlier.at, now);
  EXPECT_EQ(beats().what.receipts.size(), 1u);
}

TEST_F(ConsumerReceipts, SayNothingCameOfATaskThatGaveNothing) {
  const auto did = loses();
  const auto* beat = last<consume::beat>(did);
  ASSERT_NE(beat, nullptr);
  EXPECT_EQ(beat->what.receipts,
            (std::vector<split_receipt>{{.task = task, .without_given_back = true}}));
}

TEST_F(ConsumerReceipts, SayHowFarTheTrainerWasWithALostTask) {
  sends(0, 3, 20);
  take(2);
  const auto did = loses();
  EXPECT_EQ(last<consume::beat>(did)->what.receipts[0].marks, (reader_marks{3, 1}))
    << "the trainer may not have begun with the second one";
  beats();
  EXPECT_EQ(beats().what.receipts[0].marks, (reader_marks{3, 2})) << "it has kept it";
}

TEST_F(ConsumerReceipts, AreFollowedByHowFarTheTrainerIsForAsLongAsTheJobAsks) {
  sends(0, 3, 20);
  take(2);
  core->arrived(task, from_task{stream_end{3, task_outcome::left}}, now);
  view.tasks.clear();
  view.held = {task, task_id{99}};
  ++view.version;
  EXPECT_EQ(last<consume::beat>(core->told(view, now))->what.handed_out,
            (std::map<task_id, uint64_t>{{task, 1}, {task_id{99}, UINT64_MAX}}))
    << "of the other one it never had anything";
  take(1);
  EXPECT_EQ(last<consume::beat>(core->trainer_moved(now)), nullptr) << "it may not have begun";
  const auto taken_at = now;
  EXPECT_EQ(beats().what.handed_out.at(task), UINT64_MAX);
  EXPECT_LE(now - taken_at, 100ms) << "others wait for it";
  EXPECT_EQ(last<consume::beat>(core->trainer_moved(now)), nullptr) << "once at once is enough";
  EXPECT_EQ(beats().what.handed_out.at(task), UINT64_MAX) << "it may not have come";
  view.held.clear();
  core->told(view, now);
  EXPECT_TRUE(beats().what.handed_out.empty());
}

TEST_F(ConsumerReceipts, NameNothingThatGoesBackToTheTask) {
  sends(0, 10, 20);
  sends(10, 4, 40);
  take(3);
  core->arrived(task, from_task{stream_recall{1, 2}}, now);
  EXPECT_EQ(out->of(task).received, 5u);
  sends(5, 2, 50);
  take(1);
  const auto did = core->trainer_leaves(now);
  const auto& receipt = last<consume::say_goodbye>(did)->what.receipts.at(0);
  EXPECT_EQ(receipt.reached, (std::vector<split_run>{{0, 0, {20, 4}}}));
  EXPECT_EQ(receipt.newest, (split_run{0, 0, {23, 1}}));
  EXPECT_EQ(receipt.given_back, 9u + 3);
  EXPECT_TRUE(receipt.without_given_back);
}

TEST_F(ConsumerReceipts, GoWithTheGoodbyeAsAWorkerMayBeLostLater) {
  sends(0, 2, 5);
  take(2);
  const auto did = core->trainer_leaves(now);
  const auto* bye = last<consume::say_goodbye>(did);
  ASSERT_NE(bye, nullptr);
  ASSERT_EQ(bye->what.receipts.size(), 1u);
  EXPECT_EQ(bye->what.receipts[0].reached, (std::vector<split_run>{{0, 0, {5, 2}}}));
}

TEST_F(ConsumerReceipts, WaitForTheJobWhenTheProcessWasStoppedForLong) {
  sends(0, 2, 5);
  core->timer(now);
  now += 5s; // the job may have given the consumer up, and the link does not show that yet
  core->arrived(task, from_task{stream_opened{}}, now);
  const auto did = core->timer(now);
  const auto* beat = last<consume::beat>(did);
  ASSERT_NE(beat, nullptr) << "it asks at once";
  status how;
  std::shared_ptr<const block> rows;
  EXPECT_EQ(out->try_next(rows, how), handout::outcome::nothing_yet);
  core->heartbeat_answered({}, beat->at, now);
  EXPECT_EQ(out->try_next(rows, how), handout::outcome::rows) << "it is a reader still";
}

TEST_F(ConsumerReceipts, SayWhyToATrainerThatWasGivenUpWhileItsProcessWasStopped) {
  sends(0, 2, 5);
  core->timer(now);
  now += 20s;
  const auto did = core->timer(now);
  core->heartbeat_answered(not_found("no reader"), last<consume::beat>(did)->at, now);
  now += 20s; // the process was stopped again
  status how;
  std::shared_ptr<const block> rows;
  ASSERT_EQ(out->try_next(rows, how), handout::outcome::over) << "its rows are others'";
  EXPECT_EQ(how.code(), status_code::aborted);
  out->add(task_id{}, block::failed_row({}, how)); // as an iterator does with its last error
  EXPECT_EQ(out->try_next(rows, how), handout::outcome::rows);
}

TEST_F(ConsumerReceipts, CountNoTimeWithoutWorkersWhileTheTrainerIsBusy) {
  sends(0, 2, 5);
  core->arrived(task, from_task{stream_end{2, task_outcome::exhausted}}, now);
  for (const auto end = now + 120s; now < end;) {
    const auto beat = beats();
    core->heartbeat_answered({}, beat.at, now);
  }
  EXPECT_FALSE(core->over()) << "it has elements";
}

class ConsumerReceiptsOff : public ConsumerReceipts {
protected:
  ConsumerReceiptsOff() : ConsumerReceipts(sharding_policy::off) {}
};

TEST_F(ConsumerReceiptsOff, AreNotAskedForWhereEveryWorkerGivesAWholeCopy) {
  const auto did = loses();
  EXPECT_EQ(last<consume::beat>(did), nullptr);
  EXPECT_TRUE(beats().what.receipts.empty());
}

/// A consumer that has come in the place of another one, and begins in the middle of the task's
/// output.
class ConsumerReceiptsInRounds : public ConsumerReceipts {
protected:
  ConsumerReceiptsInRounds()
    : ConsumerReceipts(sharding_policy::dynamic,
                       {.consumers = 2,
                        .now = {2, 10, {{task, 10}}},
                        .seats = {{consumer_id{1}, 0, 2}, {consumer_id{2}, 1, 1}}}) {
    sends(10, 8, 20);
    core->arrived(task, from_task{stream_received_by_all{2, 18}}, now);
    take(2);
  }
};

TEST_F(ConsumerReceiptsInRounds, NameOnlyWhatWasHandedOutWhereTheStreamDoesNotBeginWithTheFirst) {
  const auto did = loses();
  const auto* beat = last<consume::beat>(did);
  ASSERT_NE(beat, nullptr);
  ASSERT_EQ(beat->what.receipts.size(), 1u);
  EXPECT_EQ(beat->what.receipts[0].reached, (std::vector<split_run>{{0, 0, {20, 2}}}));
  EXPECT_EQ(beat->what.receipts[0].newest, (split_run{0, 0, {21, 1}}));
  EXPECT_EQ(beat->what.receipts[0].given_back, 0u) << "no other reader is given these rows";
}

TEST_F(ConsumerReceiptsInRounds, SayTheSameWithTheGoodbye) {
  const auto did = core->trainer_leaves(now);
  const auto& receipt = last<consume::say_goodbye>(did)->what.receipts.at(0);
  EXPECT_EQ(receipt.reached, (std::vector<split_run>{{0, 0, {20, 2}}}));
  EXPECT_EQ(receipt.newest, (split_run{0, 0, {21, 1}}));
}

TEST_F(ConsumerReceipts, AreTheLastOfALostTaskOnceTheyAreAnsweredAndItsRowsHandedOut) {
  sends(0, 3, 20);
  bool waiting = false;
  const auto first = loses();
  take(3);
  const auto again = beats();
  ASSERT_EQ(again.what.receipts.size(), 1u) << "the first one may not have come";
  EXPECT_EQ(again.what.receipts[0].reached, (std::vector<split_run>{{0, 0, {20, 3}}}));
  EXPECT_TRUE(out->look(waiting).contains(task));
  core->heartbeat_answered({}, again.at, now);
  beats();
  EXPECT_FALSE(out->look(waiting).contains(task));
  const auto did = core->trainer_leaves(now);
  const auto* bye = last<consume::say_goodbye>(did);
  ASSERT_NE(bye, nullptr);
  EXPECT_TRUE(bye->what.receipts.empty());
}

TEST_F(ConsumerReceipts, OfALostTaskThatTheConsumerNeverReadLeaveNothingBehind) {
  view.lost = {task_id{99}};
  ++view.version;
  const auto did = core->told(view, now);
  ASSERT_EQ(last<consume::beat>(did)->what.receipts.size(), 1u);
  bool waiting = false;
  EXPECT_FALSE(out->look(waiting).contains(task_id{99}));
}

TEST_F(ConsumerReceipts, LeaveARemarkForTheTrainerAtTheEndOfAnEpochThatLacksElements) {
  view.losses = {.tasks = 1, .splits = 3, .reread = 12};
  view.finished = true;
  loses();
  EXPECT_EQ(out->take_remark(),
            "this epoch is incomplete: 1 worker was lost, and with it rows of up to 3 splits; 12 "
            "more were read again by others");
  EXPECT_EQ(out->take_remark(), "") << "once";
}

TEST_F(ConsumerReceipts, LeaveARemarkForTheTrainerWhereElementsMayHaveComeTwice) {
  view.losses = {.reread = 12, .repeated = 5};
  view.finished = true;
  loses();
  EXPECT_THAT(out->take_remark(),
              testing::StartsWith("elements of up to 5 splits of this epoch may have come twice"));
}

TEST_F(ConsumerReceipts, LeaveNoRemarkWhereAllWasReadAgain) {
  view.losses = {.reread = 12};
  view.finished = true;
  loses();
  EXPECT_EQ(out->take_remark(), "");
}

TEST_F(ConsumerReceipts, SayThatTheTrainerWaitsAlsoWhereNothingHasComeYet) {
  std::shared_ptr<const block> rows;
  status how;
  ASSERT_EQ(out->try_next(rows, how), handout::outcome::nothing_yet);
  const auto did = core->trainer_moved(now);
  const auto* said = last<consume::send>(did);
  ASSERT_NE(said, nullptr) << "others may hold rows for it";
  EXPECT_TRUE(std::get<stream_grant>(said->what).waiting);
}

// -- elements in use ------------------------------------------------------------------------

/// Blocks of one element, of which the trainer is handed the first.
class ElementInUse : public ConsumerReceipts {
protected:
  ElementInUse() {
    for (uint64_t i = 0; i < 3; ++i) sends(i, 1, 20 + i);
    take(1);
  }
  static std::optional<uint64_t> reported(const consume::commands& in) {
    std::optional<uint64_t> out;
    for (const auto& x : in)
      if (const auto* said = std::get_if<consume::send>(&x); said != nullptr && said->task == task)
        if (const auto* grant = std::get_if<stream_grant>(&said->what))
          out = grant->handed_out;
    return out;
  }
};

TEST_F(ElementInUse, IsNotReportedAsHandedOutBeforeTheTrainerCanHaveBegunWithIt) {
  const auto did = core->trainer_moved(now);
  const auto* grant = std::get_if<stream_grant>(&last<consume::send>(did)->what);
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->handed_out, 0u);
  EXPECT_EQ(grant->taken, 1u);
  EXPECT_EQ(grant->elements, 1 + stream_credit::first_elements) << "it needs no room here";
  EXPECT_GT(grant->bytes, uint64_t{consumer_options{}.stream_bytes});
}

TEST_F(ElementInUse, IsReportedWhenTheTrainerAsksForTheNextOne) {
  core->trainer_moved(now);
  take(1);
  EXPECT_EQ(reported(core->trainer_moved(now)), 1u);
}

TEST_F(ElementInUse, OfTheEndIsReportedWhenTheTrainerWaits) {
  take(2);
  EXPECT_EQ(reported(core->trainer_moved(now)), 2u);
  std::shared_ptr<const block> rows;
  status how;
  ASSERT_EQ(out->try_next(rows, how), handout::outcome::nothing_yet);
  EXPECT_EQ(reported(core->trainer_moved(now)), 3u);
}

TEST_F(ElementInUse, IsReportedWhenATrainerThatHoldsNothingElseKeepsIt) {
  take(2);
  core->trainer_moved(now);
  EXPECT_LT(*core->next_deadline(), now + 100ms) << "others may wait for the end";
  now = *core->next_deadline();
  EXPECT_EQ(reported(core->timer(now)), 3u);
  EXPECT_EQ(reported(core->timer(now)), std::nullopt) << "once";
}

TEST_F(ElementInUse, IsReportedThoughTheTrainerGoesOnToAnotherTask) {
  view.tasks.push_back({task_id{8}, incarnation{1}, "host:8", {}, worker_id{4}});
  ++view.version;
  core->told(view, now);
  core->linked("host:8", now);
  core->arrived(task_id{8}, from_task{stream_opened{}}, now);
  take(2);
  core->trainer_moved(now);
  block other;
  other.rows = 10;
  other.columns.push_back(column::of_scalars<int64_t>(std::vector<int64_t>(10)));
  core->arrived(task_id{8}, from_task{stream_block{0, std::move(other)}}, now);
  const auto until = *core->next_deadline();
  take(1); // no event: the element is not the last one of its block
  core->timer(now + 10ms);
  ++view.version;
  core->told(view, now);
  now = until;
  EXPECT_EQ(reported(core->timer(now)), 3u);
}

TEST_F(ElementInUse, IsReportedWhenARecallLeavesNothingElse) {
  core->arrived(task, from_task{stream_recall{1, 0}}, now);
  EXPECT_EQ(out->of(task).received, 1u);
  EXPECT_LT(*core->next_deadline(), now + 100ms);
  now = *core->next_deadline();
  EXPECT_EQ(reported(core->timer(now)), 1u);
}

TEST_F(ElementInUse, IsAmongThoseThatTheTrainerHadWhenItLeaves) {
  const auto did = core->trainer_leaves(now);
  EXPECT_EQ(last<consume::say_goodbye>(did)->what.handed_out.at(task), 1u);
}

} // namespace
} // namespace headrace::detail::test
