#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/actors/rounds/rounds_output.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <variant>
#include <vector>

namespace headrace::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

block numbers(int64_t first, size_t count) {
  std::vector<int64_t> xs(count);
  for (size_t i = 0; i < count; ++i) xs[i] = first + static_cast<int64_t>(i);
  block out;
  out.rows = count;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

/// A task's output and what its consumers were sent.
struct dealt {
  explicit dealt(uint32_t consumers) : out(consumers) {}
  rounds_output out;
  std::map<consumer_id, std::vector<int64_t>> got;
  std::map<consumer_id, std::pair<uint64_t, uint64_t>> common; ///< epoch, groups received by all

  status open(uint64_t who, uint32_t index, uint64_t from = 0, uint64_t window = 1 << 20) {
    auto how = out.opened(consumer_id{who}, {.received = from, .handed_out = from, .index = index});
    out.grant(consumer_id{who}, from, from + window, 1 << 20, false);
    return how;
  }
  void deal() {
    for (auto& x : out.deal_at({}, false)) {
      if (auto* rows = std::get_if<dealer::send_block>(&x))
        for (auto v : rows->rows.columns[0].values<int64_t>()) got[rows->to].push_back(v);
      if (auto* all = std::get_if<dealer::send_received_by_all>(&x))
        common[all->to] = {all->epoch, all->groups};
    }
  }
};

TEST(RoundsOutput, GivesEachConsumerItsElementOfEachGroupHoweverBlocksAreCut) {
  std::mt19937_64 random{7};
  for (uint32_t consumers : {1u, 2u, 3u, 5u}) {
    dealt x{consumers};
    for (uint32_t i = 0; i < consumers; ++i) EXPECT_TRUE(x.open(i + 1, i).ok());
    int64_t made = 0;
    for (int i = 0; i < 50; ++i) {
      const auto rows = 1 + random() % 20;
      x.out.produced(numbers(made, rows));
      made += static_cast<int64_t>(rows);
      x.deal();
    }
    for (uint32_t i = 0; i < consumers; ++i) {
      int64_t expected = i;
      for (auto v : x.got[consumer_id{i + 1}]) {
        ASSERT_EQ(v, expected);
        expected += consumers;
      }
      EXPECT_GT(expected + consumers, made);
    }
    EXPECT_EQ(x.out.pending_bytes(), 0u);
  }
}

TEST(RoundsOutput, SaysWhatAllHaveOnceAllAreInOneEpoch) {
  dealt x{2};
  EXPECT_TRUE(x.open(1, 0).ok());
  EXPECT_TRUE(x.open(2, 1).ok());
  x.out.produced(numbers(0, 10));
  x.deal();
  x.out.received(consumer_id{1}, 5);
  x.out.in_epoch(consumer_id{1}, 1);
  x.out.received(consumer_id{2}, 3);
  x.deal();
  EXPECT_TRUE(x.common.empty());
  x.out.in_epoch(consumer_id{2}, 1);
  x.deal();
  EXPECT_EQ(x.common[consumer_id{1}], (std::pair<uint64_t, uint64_t>{1, 3}));
  EXPECT_EQ(x.common[consumer_id{2}], (std::pair<uint64_t, uint64_t>{1, 3}));
  x.out.in_epoch(consumer_id{1}, 2);
  x.out.received(consumer_id{2}, 5);
  x.deal();
  EXPECT_EQ(x.common[consumer_id{1}].second, 3u) << "one that is ahead has no use for it";
  EXPECT_EQ(x.common[consumer_id{2}], (std::pair<uint64_t, uint64_t>{1, 5}));
}

TEST(RoundsOutput, TellsOneThatWasCutOffHowFarThoseWentThatLeftMeanwhile) {
  dealt x{2};
  EXPECT_TRUE(x.open(1, 0).ok());
  EXPECT_TRUE(x.open(2, 1).ok());
  x.out.produced(numbers(0, 10));
  x.deal();
  for (uint64_t who : {1, 2}) x.out.in_epoch(consumer_id{who}, 1);
  x.out.received(consumer_id{1}, 5);
  x.out.received(consumer_id{2}, 3);
  x.deal();
  x.out.cut(consumer_id{1});
  x.out.received(consumer_id{2}, 5);
  x.deal();
  EXPECT_EQ(x.common[consumer_id{1}].second, 3u);
  EXPECT_EQ(x.common[consumer_id{2}].second, 5u);
  x.out.leave(consumer_id{2});
  EXPECT_TRUE(x.open(1, 0, 5).ok());
  x.deal();
  EXPECT_EQ(x.common[consumer_id{1}], (std::pair<uint64_t, uint64_t>{1, 5}));
}

TEST(RoundsOutput, KeepsGroupsUntilAllHandedThemOutForWhoComesInThePlaceOfAnother) {
  dealt x{2};
  EXPECT_TRUE(x.open(1, 0).ok());
  EXPECT_TRUE(x.open(2, 1).ok());
  for (int64_t i = 0; i < 20; ++i) x.out.produced(numbers(i, 1));
  x.deal();
  x.out.handed_out(consumer_id{1}, 4);
  x.out.handed_out(consumer_id{2}, 9);
  x.out.leave(consumer_id{2});
  EXPECT_THAT(x.open(3, 1, 3).message(), HasSubstr("those before 4 are not kept"));
  EXPECT_TRUE(x.open(3, 1, 6).ok());
  x.deal();
  EXPECT_THAT(x.got[consumer_id{3}], ElementsAre(13, 15, 17, 19));
  EXPECT_EQ(x.out.opened(consumer_id{4}, {.index = 2}).code(), status_code::invalid_argument);
}

TEST(RoundsOutput, SendsAgainWhatDidNotArriveOverALinkThatWasCut) {
  dealt x{1};
  EXPECT_TRUE(x.open(1, 0).ok());
  x.out.produced(numbers(0, 6));
  x.deal();
  x.out.cut(consumer_id{1});
  x.out.produced(numbers(6, 2));
  x.deal();
  EXPECT_THAT(x.got[consumer_id{1}], ElementsAre(0, 1, 2, 3, 4, 5));
  x.got.clear();
  EXPECT_TRUE(x.open(1, 0, 4).ok());
  x.deal();
  EXPECT_THAT(x.got[consumer_id{1}], ElementsAre(4, 5, 6, 7));
}

TEST(RoundsOutput, GoesNoFurtherThanWasGranted) {
  dealt x{2};
  EXPECT_TRUE(x.open(1, 0, 0, 3).ok());
  EXPECT_TRUE(x.open(2, 1, 0, 2).ok());
  x.out.produced(numbers(0, 20));
  x.deal();
  EXPECT_THAT(x.got[consumer_id{1}], ElementsAre(0, 2, 4));
  EXPECT_THAT(x.got[consumer_id{2}], ElementsAre(1, 3));
  EXPECT_GT(x.out.pending_bytes(), 0u);
  EXPECT_FALSE(x.out.may_end().ok());
}

TEST(RoundEpoch, GivesEachGroupOfEachTaskOnceHoweverEpochsFollow) {
  std::mt19937_64 random{3};
  round_epoch now;
  std::map<task_id, uint64_t> next; // the next group of each task, counted by this test
  std::vector<task_id> there{task_id{1}};
  uint64_t last = 1, round = 0;
  now = now.followed_by(0, there);
  for (int i = 0; i < 500; ++i) {
    for (auto n = random() % 7; n > 0; --n, ++round) {
      const auto at = now.of(round);
      ASSERT_EQ(at.group, next[now.tasks[at.member].task]++);
    }
    if (random() % 2 == 0 || there.size() == 1)
      there.push_back(task_id{++last});
    else
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(random() % there.size()));
    now = now.followed_by(round, there);
  }
}

} // namespace
} // namespace headrace::detail::test
