#include "headrace/actors/stream/handout.hpp"

#include "tests/actors/stream/stream_world.hpp"

#include <atomic>
#include <random>
#include <thread>

namespace headrace::detail {
namespace {

constexpr task_id a{1};
constexpr task_id b{2};

std::vector<int64_t> drain(handout& out) {
  std::vector<int64_t> got;
  std::shared_ptr<const block> rows;
  status how;
  while (out.try_next(rows, how) == handout::outcome::rows)
    for (auto row = out.claim(); row >= 0; row = out.claim())
      got.push_back(rows->columns[0].values<int64_t>()[static_cast<size_t>(row)]);
  return got;
}

std::vector<int64_t> run(int64_t first, int64_t end) {
  std::vector<int64_t> out(static_cast<size_t>(end - first));
  std::iota(out.begin(), out.end(), first);
  return out;
}

TEST(Handout, TakesBackWhatTheTrainerDidNotTakeOfItsCurrentBlock) {
  handout out{[] {}};
  out.add(a, numbers(0, 10));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.claim(), 0);
  EXPECT_EQ(out.claim(), 1);
  EXPECT_EQ(out.recall(a, 3), 5u);
  EXPECT_EQ(out.of(a).received, 5u);
  EXPECT_EQ(out.of(a).handed_out, 2u);
  EXPECT_EQ(out.claim_up_to(100), (std::pair<size_t, size_t>{2, 5}));
  EXPECT_LT(out.claim(), 0);
}

TEST(Handout, ShowsWhichElementsTheTrainerHasInUse) {
  handout out{[] {}};
  out.add(a, numbers(0, 10));
  out.add(b, numbers(20, 1));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.of(a).in_use, 0u) << "it has none yet";
  out.claim();
  out.claim();
  EXPECT_EQ(out.of(a).in_use, 1u);
  EXPECT_EQ(out.of(a).in_use_bytes, 8u);
  out.claim_up_to(5);
  bool waiting = false;
  EXPECT_EQ(out.look(waiting).at(a).in_use, 5u);
  EXPECT_EQ(out.look(waiting).at(b).in_use, 0u);
  out.claim_up_to(5);
  EXPECT_EQ(out.of(a).in_use, 3u);
  EXPECT_EQ(out.of(a).in_use_bytes, 24u);
  out.claim();
  EXPECT_EQ(out.of(a).in_use, 0u) << "it has asked for another one";
  rows = out.next({}, how);
  out.claim();
  EXPECT_EQ(out.of(a).in_use, 0u);
  EXPECT_EQ(out.of(b).in_use, 1u) << "of this block it has taken one at a time";
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  EXPECT_EQ(out.of(b).in_use, 0u);
}

TEST(Handout, ARecallDoesNotMakeElementsInUseOfThoseThatTheTrainerIsThroughWith) {
  handout out{[] {}};
  out.add(a, numbers(0, 1));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.claim(), 0);
  EXPECT_LT(out.claim(), 0);
  EXPECT_EQ(out.recall(a, 0), 1u);
  EXPECT_EQ(out.of(a).in_use, 0u);
}

TEST(Handout, HandsOutOnlyWhatIsConfirmed) {
  handout out{[] {}};
  out.add(a, numbers(0, 10), 4);
  EXPECT_EQ(drain(out), run(0, 4));
  bool waiting = false;
  auto marks = out.look(waiting).at(a);
  EXPECT_TRUE(waiting);
  EXPECT_TRUE(marks.held_up);
  EXPECT_EQ(marks.confirmed, 4u);
  EXPECT_EQ(marks.handed_out, 4u);
  EXPECT_FALSE(out.look(waiting).at(a).held_up) << "it did not ask again";
  out.confirm(a, 7);
  EXPECT_FALSE(out.waiting());
  EXPECT_EQ(drain(out), run(4, 7));
  out.add(a, numbers(10, 2), 7);
  out.own(a);
  EXPECT_EQ(drain(out), run(7, 12));
}

TEST(Handout, WakesWhenTheTrainerIsThroughWithHalfOfWhatIsConfirmedOfABlock) {
  size_t woken = 0;
  handout out{[&] { ++woken; }};
  out.add(a, numbers(0, 100), 16);
  status how;
  std::shared_ptr<const block> rows;
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
  EXPECT_EQ(out.claim_up_to(100), (std::pair<size_t, size_t>{0, 8}));
  EXPECT_EQ(woken, 1u);
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
  EXPECT_EQ(out.claim_up_to(100), (std::pair<size_t, size_t>{0, 8}));
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
}

TEST(Handout, TakesALateConfirmationForNothingThatCameSince) {
  handout out{[] {}};
  out.add(a, numbers(0, 10), 4);
  EXPECT_EQ(out.recall(a, 2), 2u);
  out.confirm(a, 10); // the confirmation includes elements that were given back
  out.add(a, numbers(20, 5), 3);
  EXPECT_EQ(drain(out), (std::vector<int64_t>{0, 1, 20}));
}

TEST(Handout, GivesAnotherTasksRowsWhileOneTasksAreNotConfirmed) {
  handout out{[] {}};
  out.add(a, numbers(0, 10), 1);
  out.add(b, numbers(10, 3));
  EXPECT_EQ(drain(out), (std::vector<int64_t>{0, 10, 11, 12}));
}

TEST(Handout, HandsOutNothingAfterTheTimeThatItIsTrustedUntil) {
  time_point now{};
  size_t woken = 0;
  handout out{[&] { ++woken; }, [&] { return now; }};
  out.add(a, numbers(0, 10));
  out.add(b, numbers(10, 5));
  out.trust_until(now + std::chrono::seconds{4});
  status how;
  std::shared_ptr<const block> rows;
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
  EXPECT_EQ(out.claim(), 0);
  now += std::chrono::seconds{5}; // the process was stopped
  EXPECT_LT(out.claim(), 0);
  EXPECT_EQ(out.claim_up_to(10), (std::pair<size_t, size_t>{0, 0}));
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  EXPECT_EQ(out.of(a).handed_out, 1u);
  EXPECT_EQ(out.of(a).received, 10u) << "nothing of it is gone";
  out.trust_until(now + std::chrono::seconds{4});
  auto got = drain(out);
  std::ranges::sort(got);
  EXPECT_EQ(got, run(1, 15));
  EXPECT_EQ(out.of(a).handed_out, 10u);
}

/// The trainer of this handout waits: the time until which it may be handed rows has passed.
class WaitingTrainer : public testing::Test {
protected:
  WaitingTrainer() {
    out.when_something_comes([this] { ++came; });
    out.add(a, numbers(0, 10));
    out.trust_until(now);
    now += std::chrono::seconds{1};
    status how;
    std::shared_ptr<const block> rows;
    EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  }
  time_point now{};
  handout out{[] {}, [this] { return now; }};
  size_t came = 0;
};

TEST_F(WaitingTrainer, IsWokenWhenItIsTrustedAgain) {
  out.trust_until(time_point::max());
  EXPECT_EQ(came, 1u);
  EXPECT_EQ(drain(out), run(0, 10));
}

TEST_F(WaitingTrainer, IsWokenThoughItBeganToWaitJustBeforeItIsTrustedAgain) {
  now -= std::chrono::seconds{1}; // the consumer had read the clock before the trainer did
  out.trust_until(time_point::max());
  EXPECT_EQ(came, 1u);
}

TEST(Handout, HandsOutNothingMoreOfABlockThatIsTakenWhateverIsAsked) {
  handout out{[] {}};
  out.add(a, numbers(0, 10));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.claim_up_to(SIZE_MAX), (std::pair<size_t, size_t>{0, 10}));
  EXPECT_EQ(out.claim_up_to(SIZE_MAX), (std::pair<size_t, size_t>{10, 10}));
}

TEST(Handout, TakesBackAcrossBlocksAndGoesOnAtTheMark) {
  handout out{[] {}};
  out.add(a, numbers(0, 4));
  out.add(a, numbers(4, 4));
  EXPECT_EQ(out.recall(a, 6), 6u);
  out.add(a, numbers(100, 2));
  EXPECT_EQ(drain(out), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 100, 101}));
  EXPECT_EQ(out.of(a).handed_out, 8u);
}

TEST(Handout, LeavesOneElementToATrainerThatWaits) {
  handout out{[] {}};
  std::shared_ptr<const block> rows;
  status how;
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  EXPECT_TRUE(out.waiting());
  out.add(a, numbers(0, 4));
  EXPECT_FALSE(out.waiting()) << "there is something for it";
  EXPECT_EQ(out.recall(a, 0), 1u);
  EXPECT_EQ(drain(out), run(0, 1));
}

TEST(Handout, GivesTasksTheirTurns) {
  handout out{[] {}};
  for (int i = 0; i < 3; ++i) out.add(a, numbers(i, 1));
  out.add(b, numbers(10, 1));
  EXPECT_EQ(drain(out), (std::vector<int64_t>{0, 10, 1, 2}));
}

TEST(Handout, TakesBackAllThatIsNotHandedOutAlsoFromATrainerThatWaits) {
  handout out{[] {}};
  out.add(a, numbers(0, 4));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.claim(), 0);
  EXPECT_EQ(out.recall_all(a), 1u);
  EXPECT_LT(out.claim(), 0);
  EXPECT_EQ(out.of(a).received, 1u);
  out.add(a, numbers(50, 2));
  EXPECT_EQ(drain(out), run(50, 52));
  EXPECT_EQ(out.of(a).handed_out, 3u);
}

TEST(Handout, HandsOutNothingOfATaskThatIsHeld) {
  handout out{[] {}};
  out.add(a, numbers(0, 4));
  out.add(b, numbers(10, 2));
  status how;
  auto rows = out.next({}, how);
  EXPECT_EQ(out.claim(), 0);
  out.hold(a);
  EXPECT_LT(out.claim(), 0) << "in the midst of a block";
  EXPECT_EQ(drain(out), run(10, 12));
  EXPECT_TRUE(out.waiting());
  EXPECT_EQ(out.of(a).received, 4u) << "it stays";
  EXPECT_EQ(out.of(a).handed_out, 1u);
  out.release(a);
  EXPECT_EQ(drain(out), run(1, 4));
}

TEST(Handout, WakesATrainerThatDoesNotBlockWhenATaskIsReleased) {
  int came = 0;
  handout out{[] {}};
  out.when_something_comes([&] { ++came; });
  out.hold(a);
  out.add(a, numbers(0, 1));
  std::shared_ptr<const block> rows;
  status how;
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  came = 0;
  out.release(a);
  EXPECT_EQ(came, 1);
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::rows);
}

TEST(Handout, TellsAnErrorOnceAfterTheRowsAndThenTheEnd) {
  handout out{[] {}};
  out.add(a, numbers(0, 1));
  out.finish(unavailable("gone"));
  status how;
  EXPECT_TRUE(out.next({}, how));
  EXPECT_EQ(out.claim(), 0);
  EXPECT_FALSE(out.next({}, how));
  EXPECT_EQ(how, unavailable("gone"));
  EXPECT_FALSE(out.next({}, how));
  EXPECT_TRUE(how.ok());
}

TEST(Handout, StopsWaitingWhenAsked) {
  handout out{[] {}};
  std::stop_source stop;
  std::jthread asker{[&] { stop.request_stop(); }};
  status how;
  EXPECT_FALSE(out.next(stop.get_token(), how));
  EXPECT_EQ(how.code(), status_code::cancelled);
  EXPECT_FALSE(out.waiting());
}

TEST(Handout, WaitsNoLongerThanItMay) {
  handout out{[] {}};
  std::shared_ptr<const block> rows;
  status how;
  EXPECT_EQ(out.next_within(duration{1}, {}, rows, how), handout::outcome::nothing_yet);
  EXPECT_TRUE(out.waiting()) << "it comes back";
  std::thread actor{[&] { out.add(a, numbers(0, 10)); }};
  EXPECT_EQ(out.next_within(std::chrono::hours{1}, {}, rows, how), handout::outcome::rows);
  EXPECT_EQ(out.claim_up_to(99).second, 10u);
  actor.join();
  std::stop_source stop;
  std::thread other{[&] { stop.request_stop(); }};
  EXPECT_EQ(out.next_within(std::chrono::hours{1}, stop.get_token(), rows, how),
            handout::outcome::over);
  EXPECT_EQ(how.code(), status_code::cancelled);
  other.join();
  std::thread last{[&] { out.finish({}); }};
  EXPECT_EQ(out.next_within(std::chrono::hours{1}, {}, rows, how), handout::outcome::over);
  EXPECT_EQ(how, status{});
  last.join();
}

TEST(Handout, WakesTheActorOnceUntilItLooks) {
  int woken = 0;
  handout out{[&] { ++woken; }};
  for (int i = 0; i < 3; ++i) out.add(a, numbers(i, 1));
  drain(out);
  EXPECT_EQ(woken, 1);
  bool waiting = false;
  EXPECT_EQ(out.look(waiting).at(a).handed_out, 3u);
  EXPECT_TRUE(waiting);
  out.add(a, numbers(0, 1));
  drain(out);
  EXPECT_EQ(woken, 2);
}

TEST(Handout, SaysThatABlockIsThroughThoughTheTrainerDoesNotComeBack) {
  size_t woken = 0;
  bool waiting = false;
  handout out{[&] { ++woken; }};
  for (const bool one_by_one : {true, false}) {
    out.add(a, numbers(0, 3));
    status how;
    std::shared_ptr<const block> rows;
    ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
    out.look(waiting);
    woken = 0;
    EXPECT_EQ(out.claim_up_to(2).second, 2u);
    EXPECT_EQ(woken, 0u);
    one_by_one ? void(out.claim()) : void(out.claim_up_to(5));
    EXPECT_EQ(woken, 1u);
    EXPECT_EQ(out.look(waiting).at(a).handed_out, out.of(a).received);
  }
}

TEST(Handout, SaysThatWhatItLeftToAWaitingTrainerIsSpareOnceThatWaitsNoMore) {
  size_t woken = 0;
  bool waiting = false;
  handout out{[&] { ++woken; }};
  status how;
  std::shared_ptr<const block> rows;
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::nothing_yet);
  out.add(b, numbers(0, 1));
  EXPECT_EQ(out.recall(b, 0), 1u);
  out.add(a, numbers(0, 10)); // it is the turn of the stream a
  EXPECT_FALSE(out.look(waiting).at(b).spare) << "the trainer may still take it";
  woken = 0;
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
  EXPECT_EQ(rows->rows, 10u);
  EXPECT_EQ(woken, 1u);
  EXPECT_TRUE(out.look(waiting).at(b).spare);
  EXPECT_FALSE(out.look(waiting).at(b).spare) << "that was said";
  EXPECT_EQ(out.recall(b, 0), 0u);
}

TEST(Handout, WakesNobodyBeforeSoManyBytesWereTaken) {
  int woken = 0;
  handout out{[&] { ++woken; }};
  bool waiting = false;
  out.look(waiting, numbers(0, 3).bytes());
  for (int i = 0; i < 2; ++i) {
    out.add(a, numbers(i, 1));
    drain(out);
  }
  EXPECT_EQ(woken, 0) << "though the trainer waits";
  out.add(a, numbers(2, 1));
  drain(out);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(out.look(waiting).at(a).taken_bytes, numbers(0, 3).bytes());
  out.add(a, numbers(3, 1));
  drain(out);
  EXPECT_EQ(woken, 2) << "at once, as no quiet was asked for";
}

// Every element goes either to the trainer or back to the actor, whatever the two threads do.
TEST(Handout, LosesAndRepeatsNothingBetweenTwoThreads) {
  constexpr int64_t total = 200'000;
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  handout out{[] {}};
  std::vector<int64_t> got;
  std::jthread trainer{[&] {
    std::mt19937 random{seed};
    status how;
    while (auto rows = out.next({}, how)) {
      for (;;) {
        const auto xs = rows->columns[0].values<int64_t>();
        if (random() % 4 == 0) {
          const auto [first, last] = out.claim_up_to(random() % 7 + 1);
          if (first == last)
            break;
          got.insert(got.end(), xs.begin() + static_cast<long>(first),
                     xs.begin() + static_cast<long>(last));
        } else if (const auto row = out.claim(); row >= 0) {
          got.push_back(xs[static_cast<size_t>(row)]);
        } else {
          break;
        }
      }
    }
  }};
  std::mt19937 random{seed + 1};
  std::vector<int64_t> held; // elements that are in the handout or were handed out
  int64_t made = 0;
  std::deque<int64_t> back;
  while (made < total || !back.empty() || out.of(a).handed_out < held.size()) {
    if (random() % 8 == 0) {
      const auto mark = out.recall(a, random() % 20);
      ASSERT_LE(out.of(a).handed_out, mark);
      back.insert(back.begin(), held.begin() + static_cast<long>(mark), held.end());
      held.resize(mark);
    }
    if (out.of(a).received - out.of(a).handed_out > 500)
      continue;
    if (!back.empty()) {
      out.add(a, numbers(back.front(), 1));
      held.push_back(back.front());
      back.pop_front();
    } else if (made < total) {
      const auto n = static_cast<int64_t>(random() % 64) + 1;
      out.add(a, numbers(made, static_cast<size_t>(n)));
      for (int64_t i = 0; i < n; ++i) held.push_back(made++);
    }
  }
  out.finish({});
  trainer.join();
  EXPECT_EQ(got, held);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, run(0, made));
}

TEST(Handout, CountsTheErrorAtTheEndAsNoRound) {
  handout out{[] {}};
  out.take_in_rounds();
  out.begin_epoch({1, 5, {{a}}});
  out.add(a, numbers(0, 1));
  out.received_by_all(a, 1, 1);
  EXPECT_EQ(drain(out), run(0, 1));
  EXPECT_EQ(out.rounds().round, 6u);
  out.finish(unavailable("the dispatcher is away"));
  status how;
  std::shared_ptr<const block> rows;
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::over);
  out.add(task_id{}, block::failed_row({}, how));
  ASSERT_EQ(out.try_next(rows, how), handout::outcome::rows);
  EXPECT_EQ(out.claim(), 0);
  EXPECT_EQ(out.rounds().round, 6u);
  EXPECT_EQ(out.try_next(rows, how), handout::outcome::over);
  EXPECT_EQ(out.rounds().round, 6u);
}

} // namespace
} // namespace headrace::detail
