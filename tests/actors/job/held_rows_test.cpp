#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t ann = 1, bob = 2;

/// A job with two readers and one task, which has been leased all splits. Most tests end the task
/// while the reader `ann` holds some of the task's rows.
class HeldRows : public testing::Test {
protected:
  HeldRows() {
    const auto start = x.open(ann).starts.at(0);
    x.open(bob);
    x.started(start);
    task = start.what;
    // The task sends questions until it is sent the end of the pass.
    for (uint64_t n = 0; x.ask(task, {0, 0, n})->splits; ++n) {
    }
  }
  static split_plan once() {
    auto plan = one_source(2);
    plan.sources[0].passes = 1;
    return plan;
  }
  /// The task leaves. The reader `ann` has received ten elements from it and has handed out four.
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
  const auto out = x.announced(leaves());
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
              testing::HasSubstr("up to 3 elements were with a trainer that is gone"));
  EXPECT_THAT(
    describe(losses(), sharding_policy::off, true),
    testing::HasSubstr("for one of the trainers: up to 3 elements were with an iterator"));
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

TEST_F(HeldRows, DoNotKeepTheRepetitionOpenWhereTheEarlierCoreStoredNoEnd) {
  leaves();
  // An earlier version stored this fact before the repetition's end, and may have died in between.
  const std::vector<job_record::fact> handed_out{
    {0, held_rows::fact{held_rows::handed_out{task.id, consumer_id{ann}, UINT64_MAX}}}};
  ASSERT_TRUE(x.store.append(x.writer, handed_out, {})->ok());
  x.restart({worker(1)});
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

/// A job with the readers `ann` and `bob` under at_least_once: when a reader is gone, the rows that
/// it held are read again. `task` has been leased one of the two splits.
class RereadRows : public testing::Test {
protected:
  RereadRows() {
    const auto start = x.open(ann).starts.at(0);
    x.open(bob);
    x.started(start);
    task = start.what;
    const auto given = x.ask(task, {0, 0, 0});
    leased = **given;
    x.started(x.came(worker(2)).starts.at(0));
  }
  static split_plan once() {
    auto plan = one_source(2);
    plan.sources[0].passes = 1;
    plan.rows = {.apart = true, .single = true, .in_order = true};
    return plan;
  }
  static job_description at_least_once() {
    return {.id = job_id{1},
            .name = "train",
            .policy = sharding_policy::dynamic,
            .plan = once(),
            .timing = {1s, 5s},
            .terms = {.client_timeout = 5s},
            .guarantee = delivery_guarantee::at_least_once};
  }
  void ann_dies() {
    for (int i = 0; i < 4; ++i) {
      x.pass(2s);
      x.beat(bob);
    }
  }
  task_order other() const {
    for (const auto& [id, t] : x.state().tasks())
      if (t.worker.id == worker_id{2} && t.alive())
        return {.id = id, .life = t.life};
    return {};
  }
  /// Lets the task on worker 2 send questions until it must wait or is sent the end. Returns the
  /// splits that it is leased.
  std::vector<split_range> others() {
    std::vector<split_range> out;
    for (uint64_t n = 0;; ++n) {
      const auto given = x.ask(other(), {0, 0, n});
      if (!given || !*given)
        return out;
      out.push_back(**given);
    }
  }
  /// Ends the task on worker 2. The job then starts a new task for the splits that remain; returns
  /// the first splits that the new task is leased.
  split_range a_new_task_reads() {
    const auto starts = x.ended(other()).starts;
    EXPECT_EQ(starts.size(), 1u);
    x.started(starts.at(0));
    return **x.ask(starts.at(0).what, {0, 0, 0});
  }
  iteration_losses losses() const {
    return x.core.record().losses_of(x.core.record().repetitions().at(0));
  }
  using ranges = std::vector<split_range>;

  driven_job x{at_least_once(), {worker(1)}};
  task_order task;
  split_range leased;
};

TEST_F(RereadRows, OfATaskThatLeftAreReadAgainWhenTheirReaderDies) {
  x.ended(task_end{.id = task.id,
                   .life = task.life,
                   .outcome = task_outcome::left,
                   .held = {{consumer_id{ann}, {1, 0}}}});
  EXPECT_EQ(others(), (ranges{{1, 1}}));
  EXPECT_FALSE(x.state().finished());
  ann_dies();
  EXPECT_EQ(a_new_task_reads(), leased);
  EXPECT_EQ(losses(), (iteration_losses{.reread = 1, .repeated = 1}));
}

TEST_F(RereadRows, OfATaskThatLeftAreForgottenWhenTheyAreHandedOut) {
  x.ended(task_end{.id = task.id,
                   .life = task.life,
                   .outcome = task_outcome::left,
                   .held = {{consumer_id{ann}, {1, 0}}}});
  x.beat_at(ann, {{task.id, 1}});
  ann_dies();
  EXPECT_EQ(others(), (ranges{{1, 1}}));
  EXPECT_EQ(losses(), iteration_losses{});
}

TEST_F(RereadRows, OfALostTaskAreReadAgainWhenTheirReaderDiesAfterItsReceipt) {
  x.lost(worker_id{1});
  x.beat(ann, 0, {{.task = task.id, .reached = {{0, 0, leased}}, .marks = {1, 0}}});
  x.beat(bob, 0, {{.task = task.id}});
  EXPECT_EQ(others(), (ranges{{1, 1}})) << "ann has the other one";
  ann_dies();
  EXPECT_EQ(a_new_task_reads(), leased);
}

TEST_F(RereadRows, OfATaskAndAReaderThatDieTogetherAreReadAgain) {
  x.lost(worker_id{1});
  x.beat(bob, 0, {{.task = task.id}});
  ann_dies();
  EXPECT_EQ(others(), (ranges{leased, {1, 1}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 1, .repeated = 1}));
}

TEST_F(RereadRows, OfALostTaskAreReadAgainWhenTheirReaderLeavesBeforeAnotherOneSaysWhatItHas) {
  x.lost(worker_id{1});
  x.beat(ann, 0, {{.task = task.id, .reached = {{0, 0, leased}}, .marks = {1, 0}}});
  x.leave(ann, 0, {{task.id, 0}});
  x.beat(bob, 0, {{.task = task.id}});
  EXPECT_EQ(others(), (ranges{leased, {1, 1}}));
  EXPECT_EQ(losses(), (iteration_losses{.reread = 1, .repeated = 1}));
}

TEST_F(RereadRows, OfALostTaskAreReadAgainWhenBothReadersDieAfterOneReceipt) {
  x.lost(worker_id{1});
  x.beat(ann, 0, {{.task = task.id, .reached = {{0, 0, leased}}, .marks = {1, 0}}});
  x.beat(bob); // without bob's receipt
  x.pass(3s);
  x.open(3);
  x.pass(3s);
  EXPECT_EQ(x.state().consumers(), (std::set{consumer_id{3}})) << "ann and bob are given up";
  EXPECT_EQ(others(), (ranges{leased, {1, 1}}));
}

/// The parameter: how many groups of facts are stored before the job's process dies, beginning with
/// the event in which the job gives up the reader `ann`.
class RereadRowsOfAJobThatDies : public RereadRows, public testing::WithParamInterface<size_t> {};

TEST_P(RereadRowsOfAJobThatDies, AreReadWhateverItHasStored) {
  x.ended(task_end{.id = task.id,
                   .life = task.life,
                   .outcome = task_outcome::exhausted,
                   .held = {{consumer_id{ann}, {1, 0}}}});
  EXPECT_EQ(others(), (ranges{{1, 1}}));
  x.dies_after(GetParam());
  ann_dies();
  x.restart({worker(1), worker(2)});
  ann_dies();
  EXPECT_EQ(a_new_task_reads(), leased);
}

INSTANTIATE_TEST_SUITE_P(Groups, RereadRowsOfAJobThatDies, testing::Range(size_t{0}, size_t{5}));

TEST_F(RereadRows, OfAnExhaustedTaskAreReadByATaskThatIsStartedForThem) {
  EXPECT_EQ(others(), (ranges{{1, 1}}));
  x.ended(other());
  x.leave(ann, 0, {{task.id, 0}});
  const auto out = x.ended(task_end{.id = task.id,
                                    .life = task.life,
                                    .outcome = task_outcome::exhausted,
                                    .held = {{consumer_id{ann}, {1, 0}}}});
  EXPECT_FALSE(x.state().finished());
  ASSERT_EQ(out.starts.size(), 1u);
  x.started(out.starts[0]);
  EXPECT_EQ(x.ask(out.starts[0].what, {0, 0, 0}).value(), split_answer{leased});
}

TEST_F(RereadRows, OfALostTaskThatSaidItWasDoneAreNotReadAgain) {
  x.ask({.task = task.id,
         .life = task.life,
         .wish = {.which = {0, 0, 1}, .done = {{.split = leased.first, .through = true}}}});
  x.lost(worker_id{1});
  x.beat(bob, 0, {{.task = task.id}});
  ann_dies();
  EXPECT_THAT(others(), testing::Not(testing::Contains(leased)));
}

} // namespace
} // namespace headrace::detail::test
