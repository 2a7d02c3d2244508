#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t ann = 1, bob = 2;

/// A job with two readers, whose only task left in order while `ann` held some of its rows.
class HeldRows : public testing::Test {
protected:
  HeldRows() {
    const auto start = x.open(ann).starts.at(0);
    x.open(bob);
    x.started(start);
    task = start.what;
    // Whatever it reads is read.
    for (uint64_t n = 0; x.ask(task, {0, 0, n})->splits; ++n) {
    }
  }
  static split_plan once() {
    auto plan = one_source(2);
    plan.sources[0].passes = 1;
    return plan;
  }
  /// It had sent `ann` ten elements, and she handed out four of them.
  job_outcome leaves() {
    return end({.outcome = task_outcome::left, .held = {{consumer_id{ann}, {10, 4}}}});
  }
  job_outcome end(task_end what) {
    what.id = task.id;
    what.life = task.life;
    return x.ended(what);
  }
  iteration_losses losses() const { return x.core.record().losses_of(repetition()); }
  const job_record::repetition& repetition() const { return x.core.record().repetitions().at(0); }
  bool finished() const { return repetition().state.finished(); }

  driven_job x{sharding_policy::dynamic, once(), {worker(1)}};
  task_order task;
};

TEST_F(HeldRows, KeepTheRepetitionOpenUntilTheyAreHandedOut) {
  const auto out = leaves();
  EXPECT_FALSE(finished());
  ASSERT_FALSE(out.news.empty());
  EXPECT_EQ(out.news.back().what.held, (std::vector{task.id}));
  x.beat_at(ann, {{task.id, 9}});
  EXPECT_FALSE(finished());
  const auto last = x.beat_at(ann, {{task.id, UINT64_MAX}});
  EXPECT_TRUE(finished());
  ASSERT_FALSE(last.news.empty());
  EXPECT_TRUE(last.news.back().what.held.empty());
  EXPECT_EQ(losses().elements, 0u);
}

TEST_F(HeldRows, AreCountedWhenTheirReaderDies) {
  leaves();
  x.beat_at(ann, {{task.id, 7}});
  for (int i = 0; i < 4; ++i) {
    x.pass(2s);
    x.beat(bob);
  }
  EXPECT_TRUE(finished());
  EXPECT_EQ(losses().elements, 3u);
  EXPECT_THAT(describe(losses(), sharding_policy::dynamic),
              testing::HasSubstr("up to 3 elements of workers that had gone before"));
}

TEST_F(HeldRows, AreCountedAsFarAsAReaderThatLeavesDidNotHandThemOut) {
  leaves();
  x.leave(ann, 0, {{task.id, 8}});
  EXPECT_TRUE(finished());
  EXPECT_EQ(losses().elements, 2u);
}

TEST_F(HeldRows, AreAllHandedOutWhereAReaderThatLeavesDoesNotNameThem) {
  leaves();
  x.leave(ann);
  EXPECT_TRUE(finished());
  EXPECT_EQ(losses().elements, 0u);
}

TEST_F(HeldRows, AreLostAtOnceWhereTheReaderWasGoneBeforeTheTaskKnewIt) {
  x.leave(ann, 0, {{task.id, 5}});
  leaves();
  EXPECT_TRUE(finished());
  EXPECT_EQ(losses().elements, 5u) << "the mark of the goodbye counts";
}

TEST_F(HeldRows, OfAnExhaustedTaskKeepTheRepetitionOpenToo) {
  end({.outcome = task_outcome::exhausted, .held = {{consumer_id{ann}, {10, 4}}}});
  EXPECT_FALSE(finished());
  x.beat_at(ann, {{task.id, UINT64_MAX}});
  EXPECT_TRUE(finished());
}

TEST_F(HeldRows, OfALostTaskAreCountedWhenTheirReaderDiesAfterItsReceipt) {
  x.lost(worker_id{1});
  x.beat(ann, 0, {{.task = task.id, .reached = {{0, 0, {0, 2}}}, .marks = {6, 1}}});
  x.beat(bob, 0, {{.task = task.id}});
  for (int i = 0; i < 4; ++i) {
    x.pass(2s);
    x.beat(bob);
  }
  EXPECT_EQ(losses().elements, 5u);
}

TEST_F(HeldRows, AreKnownToACoreThatTakesOver) {
  leaves();
  x.restart({});
  EXPECT_FALSE(finished());
  x.beat_at(ann, {{task.id, UINT64_MAX}});
  EXPECT_TRUE(finished());
}

TEST_F(HeldRows, DoNotKeepOthersFromReadingWhatCameBack) {
  driven_job y{sharding_policy::dynamic, 10, {worker(1), worker(2)}};
  const auto starts = y.open(ann).starts;
  for (const auto& one : starts) y.started(one);
  const auto& first = starts.at(0).what;
  const auto given = y.ask(first, {0, 0, 0});
  ASSERT_TRUE(given && *given);
  y.ended(starts.at(1).what);
  const auto out = y.ended(task_end{.id = first.id,
                                    .life = first.life,
                                    .outcome = task_outcome::left,
                                    .unread = {{0, 0, 1, **given}},
                                    .held = {{consumer_id{ann}, {10, 4}}}});
  EXPECT_EQ(out.starts.size(), 1u);
}

} // namespace
} // namespace headrace::test
