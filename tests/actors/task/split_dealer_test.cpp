#include "headrace/actors/task/split_dealer.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace headrace::detail {
namespace {

split_plan plan(std::vector<uint32_t> groups) {
  split_plan out;
  for (auto group : groups) {
    out.sources.push_back({.group = group, .zipped = groups.size() > 1});
    out.groups = std::max(out.groups, group + 1);
  }
  return out;
}

/// The splits that a source is given next; a question of the dealer is answered with `answer`.
std::optional<split_range> read(split_dealer& x, uint32_t source, uint64_t pass,
                                split_log::answer answer) {
  auto step = x.next(source, pass);
  if (const auto* asked = std::get_if<split_question>(&step)) {
    x.answered(*asked, answer);
    step = x.next(source, pass);
  }
  const auto* splits = std::get_if<split_range>(&step);
  return splits != nullptr ? std::optional{*splits} : std::nullopt;
}

bool is_over(split_dealer& x, uint32_t source, uint64_t pass) {
  return std::holds_alternative<pass_over>(x.next(source, pass));
}

using unread = std::vector<unread_splits>;

TEST(SplitDealer, GivesALeaseInPiecesAndTakesBackWhatIsNotBegun) {
  split_dealer x{plan({0}), {}, false};
  EXPECT_EQ(read(x, 0, 0, split_range{100, 80}), (split_range{100, 10}));
  EXPECT_EQ(read(x, 0, 0, {}), (split_range{110, 10}));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {120, 60}}}));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {}}})) << "once";
  EXPECT_TRUE(is_over(x, 0, 0));
  EXPECT_TRUE(is_over(x, 0, 1));
}

TEST(SplitDealer, GivesBackALeaseThatNobodyTook) {
  split_dealer x{plan({0}), {}, false};
  const auto asked = std::get<split_question>(x.next(0, 0));
  x.answered(asked, split_range{0, 5});
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {0, 5}}}));
  EXPECT_TRUE(is_over(x, 0, 0));
}

TEST(SplitDealer, SaysWhichAnswerItHeardLast) {
  split_dealer x{plan({0}), {}, false};
  EXPECT_EQ(read(x, 0, 0, split_range{0, 1}), (split_range{0, 1}));
  EXPECT_TRUE(std::holds_alternative<split_question>(x.next(0, 0)));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {}}}));
  split_dealer y{plan({0}), {}, false};
  EXPECT_EQ(read(y, 0, 0, {}), std::nullopt);
  EXPECT_TRUE(std::holds_alternative<split_question>(y.next(0, 1)));
  EXPECT_EQ(y.leave(), (unread{{0, 1, 0, {}}})) << "in the next pass, and not answered there";
}

TEST(SplitDealer, GivesBackPiecesThatItHasNotComeTo) {
  lease_answer pieces{split_range{0, 1}};
  pieces.more = {{4, 1}, {6, 2}, {9, 1}};
  split_dealer x{plan({0}), {}, false};
  x.answered(std::get<split_question>(x.next(0, 0)), pieces);
  EXPECT_EQ(read(x, 0, 0, {}), (split_range{0, 1}));
  EXPECT_EQ(read(x, 0, 0, {}), (split_range{4, 1}));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 3, {6, 2}}})) << "what comes later is unread as a whole";
  EXPECT_TRUE(is_over(x, 0, 0));
  split_dealer y{plan({0}), {}, false};
  y.answered(std::get<split_question>(y.next(0, 0)), pieces);
  for (int i = 0; i < 3; ++i) read(y, 0, 0, {});
  EXPECT_EQ(y.close(0, 0, {}), (unread_splits{0, 0, 3, {7, 1}}));
  split_dealer z{plan({0}), {}, false};
  z.answered(std::get<split_question>(z.next(0, 0)), pieces);
  for (auto next : {0, 4, 6, 7, 9}) EXPECT_EQ(read(z, 0, 0, {})->first, next);
  EXPECT_EQ(std::get<split_question>(z.next(0, 0)), (split_question{0, 0, 4}));
}

TEST(SplitDealer, GivesBackNothingThatAnEarlierRunnerMayHaveRead) {
  split_log log;
  log.add({0, 0, 0}, split_range{0, 80});
  split_dealer x{plan({0}), log, false};
  EXPECT_EQ(read(x, 0, 0, {}), (split_range{0, 10}));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {}}}));
  for (uint64_t i = 1; i < 8; ++i) EXPECT_EQ(read(x, 0, 0, {}), (split_range{i * 10, 10}));
  EXPECT_TRUE(is_over(x, 0, 0));
}

TEST(SplitDealer, ReadsWhatWasCutOnlyAsFarAsItWas) {
  split_log log;
  log.add({0, 0, 0}, split_range{0, 80});
  log.cut({0, 0, 1, {20, 60}});
  split_dealer x{plan({0}), log, true};
  uint64_t count = 0;
  while (auto got = read(x, 0, 0, {})) count += got->count;
  EXPECT_EQ(count, 20u);
}

TEST(SplitDealer, LetsSourcesThatAdvanceTogetherEndTogether) {
  split_dealer x{plan({0, 0}), {}, false};
  EXPECT_EQ(read(x, 0, 0, split_range{0, 8}), (split_range{0, 8}));
  EXPECT_EQ(read(x, 1, 0, split_range{0, 8}), (split_range{0, 8}));
  EXPECT_EQ(read(x, 0, 0, split_range{8, 4}), (split_range{8, 4}));
  EXPECT_EQ(x.leave(), (unread{{0, 0, 2, {}}})) << "the one that is further speaks for both";
  EXPECT_EQ(read(x, 1, 0, {}), (split_range{8, 4})) << "as the other";
  EXPECT_TRUE(is_over(x, 0, 0));
  EXPECT_TRUE(is_over(x, 1, 0));
}

TEST(SplitDealer, ClosesAPassWithWhatIsNotBegunOnce) {
  split_dealer x{plan({0}), {}, false};
  EXPECT_EQ(read(x, 0, 0, split_range{100, 80}), (split_range{100, 10}));
  EXPECT_EQ(x.close(0, 0, {103, 7}), (unread_splits{0, 0, 1, {103, 77}}));
  EXPECT_EQ(x.close(0, 0, {103, 7}), std::nullopt);
  EXPECT_FALSE(x.exhausted());
  EXPECT_EQ(x.leave(), (unread{{0, 0, 1, {}}})) << "that was given back already";
}

TEST(SplitDealer, ClosesNothingThatItWasNotGiven) {
  split_dealer x{plan({0}), {}, false};
  EXPECT_EQ(x.close(0, 0, {}), std::nullopt);
}

TEST(SplitDealer, ClosesSourcesThatAdvanceTogetherTogether) {
  split_dealer x{plan({0, 0}), {}, false};
  read(x, 0, 0, split_range{0, 8});
  read(x, 1, 0, split_range{0, 8});
  EXPECT_EQ(x.close(0, 0, {5, 3}), std::nullopt) << "the other one still reads";
  EXPECT_EQ(x.close(1, 0, {4, 4}), (unread_splits{0, 0, 1, {5, 3}})) << "the furthest speaks";
  EXPECT_EQ(x.close(1, 0, {4, 4}), std::nullopt);
}

TEST(SplitDealer, IsExhaustedWhenEverySourceIsOver) {
  split_dealer x{plan({0, 1}), {}, false};
  read(x, 0, 0, split_range{0, 1});
  read(x, 0, 0, pass_over{});
  EXPECT_FALSE(x.exhausted());
  read(x, 1, 0, pass_over{});
  EXPECT_TRUE(x.exhausted());
}

TEST(SplitDealer, KeepsFewAnswersHoweverManyThereWere) {
  for (const auto& groups : {std::vector<uint32_t>{0}, std::vector<uint32_t>{0, 0}}) {
    SCOPED_TRACE(groups.size());
    split_dealer x{plan(groups), {}, false};
    for (uint64_t pass = 0; pass < 3; ++pass) {
      for (uint64_t i = 0; i < 1'000; ++i)
        for (uint32_t source = 0; source < groups.size(); ++source)
          ASSERT_EQ(read(x, source, pass, split_range{i, 1}), (split_range{i, 1}));
      for (uint32_t source = 0; source < groups.size(); ++source) read(x, source, pass, {});
      EXPECT_LE(x.records(), 4 * groups.size());
    }
  }
}

TEST(SplitDealer, KeepsWhatTheSlowestSourceOfAGroupHasNotRead) {
  split_dealer x{plan({0, 0}), {}, false};
  for (uint64_t i = 0; i < 100; ++i) read(x, 0, 0, split_range{i, 1});
  x.leave();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(read(x, 1, 0, {}), (split_range{i, 1}));
  EXPECT_TRUE(is_over(x, 1, 0));
}

} // namespace
} // namespace headrace::detail
