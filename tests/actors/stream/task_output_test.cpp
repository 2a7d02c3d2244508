#include "tests/actors/stream/stream_world.hpp"

#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using send_block = task_output::send_block;
using send_recall = task_output::send_recall;
using send_end = task_output::send_end;

constexpr consumer_id a{1};
constexpr consumer_id b{2};
constexpr uint64_t much = 1 << 20;

template <class T>
std::vector<T> only(const std::vector<task_output::action>& actions) {
  std::vector<T> out;
  for (const auto& x : actions)
    if (const auto* y = std::get_if<T>(&x))
      out.push_back(*y);
  return out;
}

std::vector<int64_t> values(const std::vector<send_block>& sent, consumer_id to) {
  std::vector<int64_t> out;
  for (const auto& s : sent)
    if (s.to == to)
      for (auto x : s.rows.columns[0].values<int64_t>()) out.push_back(x);
  return out;
}

std::vector<int64_t> run(int64_t first, int64_t end) {
  std::vector<int64_t> out(static_cast<size_t>(end - first));
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// An output of `2 * each` elements. `a` was sent `each` elements, `b` was sent the other ones, and
/// the source is exhausted.
task_output with_both_holding(uint64_t each) {
  task_output out{true};
  out.open(a, 0, 0);
  out.open(b, 0, 0);
  out.grant(a, 0, each, much, false);
  out.grant(b, 0, each, much, false);
  out.produced(numbers(0, 2 * each));
  out.exhausted();
  const auto sent = only<send_block>(out.deal());
  EXPECT_EQ(values(sent, a).size(), each);
  EXPECT_EQ(values(sent, b).size(), each);
  return out;
}

TEST(TaskOutput, PassesWholeBlocksToASingleConsumer) {
  task_output out{false};
  out.open(a, 0, 0);
  out.grant(a, 0, much, much, false);
  auto made = numbers(0, 5000);
  const auto* data = made.columns[0].value_buffer().data();
  out.produced(std::move(made));
  const auto sent = only<send_block>(out.deal());
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].rows.rows, 5000u);
  EXPECT_EQ(sent[0].rows.columns[0].value_buffer().data(), data) << "it was copied";
}

TEST(TaskOutput, SendsNothingWithoutCreditAndNoMoreThanIsGranted) {
  task_output out{false};
  out.open(a, 0, 0);
  out.produced(numbers(0, 10));
  EXPECT_TRUE(out.deal().empty());
  out.grant(a, 0, 4, much, false);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(0, 4));
  EXPECT_TRUE(out.deal().empty());
  out.grant(a, 0, 4, much, false);
  EXPECT_TRUE(out.deal().empty()) << "a repeated grant grants nothing more";
  out.grant(a, 3, 7, much, false);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(4, 7));
}

TEST(TaskOutput, LetsOneElementGoWhenNothingIsOutstanding) {
  task_output out{false};
  out.open(a, 0, 0);
  out.grant(a, 0, much, 1, false); // an element has 8 bytes
  out.produced(numbers(0, 3));
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(0, 1));
  EXPECT_TRUE(out.deal().empty());
  out.grant(a, 1, much, 1, true);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(1, 2));
}

TEST(TaskOutput, SendsNoCrumbsIntoANearlyFullWindow) {
  task_output out{false};
  out.open(a, 0, 0);
  out.grant(a, 0, much, 8000, false);
  for (int i = 0; i < 5; ++i) out.produced(numbers(i * 250, 250)); // 2000 bytes each
  EXPECT_EQ(only<send_block>(out.deal()).size(), 4u);
  out.grant(a, 3, much, 8000, false);
  EXPECT_TRUE(out.deal().empty());
  out.grant(a, 250, much, 8000, false);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(1000, 1250));
}

TEST(TaskOutput, ResendsWhatACutLostAndNothingElse) {
  task_output out{false};
  out.open(a, 0, 0);
  out.grant(a, 0, much, much, false);
  out.produced(numbers(0, 10));
  out.produced(numbers(10, 10));
  (void)out.deal();
  out.cut(a);
  out.produced(numbers(20, 10));
  EXPECT_TRUE(out.deal().empty());
  out.open(a, 13, 5);
  const auto again = only<send_block>(out.deal());
  EXPECT_EQ(again.front().first, 13u);
  EXPECT_EQ(values(again, a), run(13, 30));
}

TEST(TaskOutput, RecallsHalfForATrainerThatWaits) {
  auto out = with_both_holding(8);
  EXPECT_TRUE(only<send_recall>(out.deal()).empty()) << "nobody waits";
  out.grant(b, 2, 10, much, false);
  (void)out.deal();
  out.grant(a, 8, 16, much, true);
  const auto recalls = only<send_recall>(out.deal());
  ASSERT_EQ(recalls.size(), 1u);
  EXPECT_EQ(recalls[0].to, b);
  EXPECT_EQ(recalls[0].keep, 3u);
  out.recalled(b, recalls[0].id, 5);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(13, 15)) << "an even part of 3";
  out.grant(a, 10, 18, much, true);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(15, 16)) << "which was not recalled again";
}

TEST(TaskOutput, CountsElementsInUseAsTakenAndKeepsThem) {
  auto out = with_both_holding(10);
  out.grant(a, 5, 10, much, false);
  out.taken(a, 8);
  out.grant(b, 10, 11, much, true);
  auto recalls = only<send_recall>(out.deal());
  ASSERT_EQ(recalls.size(), 1u);
  EXPECT_EQ(recalls[0].to, a);
  EXPECT_EQ(recalls[0].keep, 1u) << "half of the two behind those in use";
  out.recalled(a, recalls[0].id, 9);
  EXPECT_EQ(values(only<send_block>(out.deal()), b).size(), 1u);
  EXPECT_EQ(out.held().at(a).handed_out, 5u);
  out.leave(a);
  out.grant(b, 10, 20, much, false);
  EXPECT_EQ(values(only<send_block>(out.deal()), b), run(5, 9));
}

TEST(TaskOutput, TakesNoMoreForInUseThanWasSent) {
  auto out = with_both_holding(10);
  out.grant(a, 5, 10, much, false);
  out.taken(a, UINT64_MAX);
  out.grant(b, 10, 11, much, true);
  EXPECT_TRUE(only<send_recall>(out.deal()).empty()) << "a has nothing to give";
}

TEST(TaskOutput, RecallsSeldomHoweverManyReadersTakeTheirTurns) {
  constexpr uint64_t readers = 100, each = 16;
  task_output out{true};
  struct reader {
    uint64_t handed_out = 0, received = 0;
    bool ended = false;
  };
  std::vector<reader> all(readers);
  const auto grant = [&](uint64_t i, bool waiting) {
    out.grant(consumer_id{i + 1}, all[i].handed_out, all[i].handed_out + each, much, waiting);
  };
  size_t recalls = 0;
  const auto carry_out = [&] {
    for (auto actions = out.deal(); !actions.empty(); actions = out.deal())
      for (const auto& one : actions) {
        if (const auto* rows = std::get_if<send_block>(&one))
          all[rows->to.value - 1].received += rows->rows.rows;
        else if (const auto* back = std::get_if<send_recall>(&one)) {
          auto& from = all[back->to.value - 1];
          from.received = std::min(from.received, from.handed_out + back->keep);
          out.recalled(back->to, back->id, from.received);
          ++recalls;
        } else {
          all[std::get<send_end>(one).to.value - 1].ended = true;
        }
      }
  };
  for (uint64_t i = 0; i < readers; ++i) {
    out.open(consumer_id{i + 1}, 0, 0);
    grant(i, false);
  }
  out.produced(numbers(0, readers * each));
  out.exhausted();
  carry_out();
  // One thread takes an element from each stream in turn. It sends a grant for a stream after every
  // `each / 2` elements of the stream, and when it has taken all that were received.
  uint64_t taken = 0;
  for (uint64_t turn = 0; !all[turn % readers].ended; ++turn) {
    auto& one = all[turn % readers];
    if (one.handed_out == one.received) {
      grant(turn % readers, true);
      carry_out();
    }
    if (one.handed_out < one.received) {
      ++one.handed_out;
      ++taken;
    }
    if (one.handed_out % (each / 2) == 0 || one.handed_out == one.received)
      grant(turn % readers, false);
    carry_out();
    ASSERT_LT(turn, 100 * readers * each) << "no end after " << taken;
  }
  EXPECT_EQ(taken, readers * each);
  EXPECT_LT(recalls, 10 * readers);
}

TEST(TaskOutput, RecallsAllFromATrainerThatTookNothingSinceTheLastRecall) {
  auto out = with_both_holding(8);
  out.grant(b, 2, 10, much, false);
  out.grant(a, 8, 16, much, true);
  auto recalls = only<send_recall>(out.deal());
  out.recalled(b, recalls.at(0).id, 5);
  (void)out.deal();
  out.grant(a, 10, 18, much, true);
  (void)out.deal();
  out.grant(a, 11, 19, much, true);
  recalls = only<send_recall>(out.deal());
  ASSERT_EQ(recalls.size(), 1u);
  EXPECT_EQ(recalls[0].keep, 0u);
  out.recalled(b, recalls[0].id, 2);
  const auto sent = only<send_block>(out.deal());
  EXPECT_EQ(values(sent, a), run(10, 12)) << "an even part of 3";
  EXPECT_TRUE(values(sent, b).empty()) << "went back to the one it was taken from";
}

TEST(TaskOutput, AsksATrainerWithOneElementOnlyOnceWhileItSaysNothingNew) {
  auto out = with_both_holding(1);
  out.grant(a, 1, 9, much, true);
  auto recalls = only<send_recall>(out.deal());
  ASSERT_EQ(recalls.size(), 1u);
  out.recalled(b, recalls[0].id, 1); // b's trainer waits, so b keeps its element
  EXPECT_TRUE(out.deal().empty());
  out.grant(b, 1, 9, much, true);
  EXPECT_EQ(only<send_end>(out.deal()).size(), 2u);
}

TEST(TaskOutput, DeclaresTheEndWhenNothingIsUnhandedAnywhere) {
  auto out = with_both_holding(4);
  out.grant(a, 4, 8, much, false);
  EXPECT_TRUE(only<send_end>(out.deal()).empty());
  out.grant(b, 4, 8, much, false);
  EXPECT_EQ(only<send_end>(out.deal()).size(), 2u);
  EXPECT_TRUE(out.finished());
  EXPECT_TRUE(out.deal().empty());
}

TEST(TaskOutput, GivesWhatTheDeadHadNotHandedOutToTheOthers) {
  auto out = with_both_holding(4);
  out.grant(b, 1, 5, much, false);
  out.leave(b);
  out.grant(a, 4, 8, much, true);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(5, 8));
  out.grant(a, 7, 11, much, true);
  EXPECT_EQ(only<send_end>(out.deal()).size(), 1u);
}

TEST(TaskOutput, IsDeliveredWhereALivingLinksConsumerHasAllAndNotWhereTheLinkIsLost) {
  task_output x{true};
  x.open(a, 0, 0);
  x.grant(a, 0, 100, 1 << 20, true);
  x.produced(numbers(0, 10));
  x.exhausted();
  x.leaving();
  (void)x.deal();
  x.received(a, 10);
  EXPECT_TRUE(x.delivered());
  x.cut(a);
  EXPECT_FALSE(x.delivered()) << "it may have died with what it received";
  x.handed_out(a, 10);
  EXPECT_TRUE(x.delivered());
}

TEST(TaskOutput, KnowsBelowWhichRowAllWereHandedOut) {
  task_output out{true};
  EXPECT_EQ(out.handed_out_below(), 0u);
  out.open(a, 0, 0);
  out.open(b, 0, 0);
  out.produced(numbers(0, 4));
  out.grant(a, 0, 4, much, false);
  (void)out.deal();
  out.produced(numbers(4, 6));
  out.grant(b, 0, 4, much, false);
  (void)out.deal();
  out.handed_out(b, 3);
  EXPECT_EQ(out.handed_out_below(), 0u) << "a holds the first ones";
  out.handed_out(a, 3);
  EXPECT_EQ(out.handed_out_below(), 3u);
  out.handed_out(a, 4);
  EXPECT_EQ(out.handed_out_below(), 7u) << "b holds the last but two";
  out.leave(b);
  EXPECT_EQ(out.handed_out_below(), 7u) << "which goes to others now";
  out.grant(a, 4, 7, much, false);
  (void)out.deal();
  out.handed_out(a, 6);
  EXPECT_EQ(out.handed_out_below(), 9u);
  out.handed_out(a, 7);
  EXPECT_EQ(out.handed_out_below(), 10u);
}

TEST(TaskOutput, GivesWhoseTrainerKeepsUpWithMoreItsWindowAtATimeBesideOthers) {
  task_output out{true};
  out.open(a, 0, 0);
  out.open(b, 0, 0);
  out.grant(a, 0, 4000, much, false);
  out.grant(b, 0, 16, much, false);
  out.produced(numbers(0, 5000));
  const auto sent = only<send_block>(out.deal());
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(values(sent, a), run(0, 4000));
  EXPECT_EQ(values(sent, b), run(4000, 4016));
}

/// An output whose elements are handed out only after they were claimed. All `sent` elements were
/// sent to `a`, and `b` waits.
task_output with_claims(uint64_t sent) {
  task_output out{true, false, true};
  out.open(a, 0, 0);
  out.open(b, 0, 0);
  out.grant(a, 0, sent, much, false);
  out.produced(numbers(0, sent));
  const auto blocks = only<send_block>(out.deal());
  EXPECT_EQ(values(blocks, a).size(), sent);
  EXPECT_EQ(blocks.back().claimed, std::min<uint64_t>(sent, 16));
  out.grant(b, 0, 100, much, true);
  return out;
}

TEST(TaskOutput, GivesWhatOneThatIsGivenUpHadNotClaimedToTheOthersAndCountsTheRest) {
  auto out = with_claims(50);
  out.grant(a, 10, 60, much, false);
  out.claims(a, 30);
  const auto confirmed = only<task_output::send_claimed>(out.deal());
  ASSERT_EQ(confirmed.size(), 1u);
  EXPECT_EQ(confirmed[0].elements, 30u);
  EXPECT_TRUE(out.deal().empty()) << "once is enough";
  out.give_up(a);
  EXPECT_EQ(values(only<send_block>(out.deal()), b), run(30, 50));
  EXPECT_EQ(out.lost(), (std::map<consumer_id, reader_marks>{{a, {30, 10}}}));
}

TEST(TaskOutput, GivesAllThatOneThatLeavesInOrderHadNotHandedOutToTheOthers) {
  auto out = with_claims(50);
  out.claims(a, 30);
  out.handed_out(a, 20);
  out.leave(a);
  EXPECT_EQ(values(only<send_block>(out.deal()), b), run(20, 50));
  EXPECT_TRUE(out.lost().empty());
}

TEST(TaskOutput, ConfirmsNoClaimBeyondWhatItSentAndTheRestWithTheNextBlock) {
  auto out = with_claims(20);
  out.claims(a, 60);
  EXPECT_EQ(only<task_output::send_claimed>(out.deal()).at(0).elements, 20u);
  out.grant(a, 20, 100, much, true);
  out.grant(b, 0, 0, much, false);
  out.produced(numbers(20, 70));
  const auto blocks = only<send_block>(out.deal());
  EXPECT_EQ(blocks.back().claimed, 60u);
}

TEST(TaskOutput, ForgetsTheClaimOfWhatIsGivenBack) {
  auto out = with_claims(50);
  out.claims(a, 40);
  (void)out.deal();
  const auto recalls = only<send_recall>(out.deal(true));
  ASSERT_EQ(recalls.size(), 1u);
  out.recalled(a, recalls[0].id, 25);
  out.give_up(a);
  EXPECT_EQ(out.lost(), (std::map<consumer_id, reader_marks>{{a, {25, 0}}}));
  EXPECT_EQ(values(only<send_block>(out.deal()), b), run(25, 50));
}

TEST(TaskOutput, ConfirmsAgainToWhoOpensAgain) {
  auto out = with_claims(50);
  out.claims(a, 40);
  (void)out.deal();
  out.cut(a);
  out.open(a, 50, 3);
  EXPECT_EQ(only<task_output::send_claimed>(out.deal()).at(0).elements, 40u);
}

TEST(TaskOutput, RepeatsTheEndToWhoOpensAgain) {
  auto out = with_both_holding(1);
  out.grant(a, 1, 9, much, false);
  out.grant(b, 1, 9, much, false);
  EXPECT_EQ(only<send_end>(out.deal()).size(), 2u);
  out.cut(a);
  out.open(a, 1, 1);
  const auto ends = only<send_end>(out.deal());
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].to, a);
}

TEST(TaskOutput, ServesTrainersThatWaitBeforeThoseThatDoNot) {
  task_output out{true};
  for (uint64_t i = 1; i <= 4; ++i) {
    out.open(consumer_id{i}, 0, 0);
    out.grant(consumer_id{i}, 0, 16, much, i >= 3);
  }
  out.produced(numbers(0, 6));
  const auto sent = only<send_block>(out.deal());
  EXPECT_EQ(values(sent, consumer_id{3}).size(), 3u);
  EXPECT_EQ(values(sent, consumer_id{4}).size(), 3u);
}

TEST(TaskOutput, RecallsBeforeTheEndOnlyWhenProductionRanDry) {
  task_output out{true};
  out.open(a, 0, 0);
  out.open(b, 0, 0);
  out.grant(b, 0, 16, much, false);
  out.produced(numbers(0, 8));
  EXPECT_EQ(only<send_block>(out.deal()).size(), 1u);
  out.grant(b, 2, 18, much, false);
  EXPECT_FALSE(out.could_recall()) << "nobody waits";
  out.grant(a, 0, 16, much, true);
  EXPECT_TRUE(out.deal().empty());
  EXPECT_TRUE(out.could_recall());
  const auto recalls = only<send_recall>(out.deal(true));
  ASSERT_EQ(recalls.size(), 1u);
  EXPECT_FALSE(out.could_recall()) << "it is asked already";
  out.recalled(b, recalls[0].id, 5);
  EXPECT_EQ(values(only<send_block>(out.deal()), a), run(5, 8));
}

TEST(TaskOutput, DoesNotTrustMarksBeyondWhatWasSent) {
  auto out = with_both_holding(4);
  out.grant(a, 1000, 2000, much, true);
  out.grant(b, 4, 8, much, true);
  out.recalled(b, 77, 0); // there was no recall of this id
  EXPECT_EQ(only<send_end>(out.deal()).size(), 2u);
}

} // namespace
} // namespace headrace::detail
