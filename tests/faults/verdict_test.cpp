#include "tests/faults/verdict.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A history without violations, which the tests change so that rules are violated. `broken`
/// returns the names of these rules.
class Verdict : public testing::Test {
protected:
  Verdict() {
    told.elements.resize(20);
    std::iota(told.elements.begin(), told.elements.end(), 0);
    told.shared = true;
    told.longest_wait = 10s;
    told.servers = {{"dispatcher", ""}, {"worker 1", ""}};
    given[0] = {told.elements.begin(), told.elements.begin() + 12};
    given[1] = {told.elements.begin() + 12, told.elements.end()};
  }
  void in_copies(size_t n) {
    told.off = true;
    told.copies = told.steady = n;
    given[0].clear();
    for (size_t i = 0; i < n; ++i)
      given[0].insert(given[0].end(), told.elements.begin(), told.elements.end());
    given[1].clear();
  }
  std::vector<std::string> broken() {
    told.readings = {first, second};
    for (size_t i = 0; i < 2; ++i) told.readings[i].of.handed_out = given[i];
    std::vector<std::string> out;
    for (const auto& [rule, what] : judge_history(told)) out.push_back(rule);
    return out;
  }
  static told_reading well(std::string name) {
    told_reading out;
    out.of.name = std::move(name);
    out.of.ended = status{};
    return out;
  }
  using rules = std::vector<std::string>;

  told_history told;
  std::vector<int64_t> given[2];
  told_reading first = well("trainer 1");
  told_reading second = well("trainer 2");
};

TEST_F(Verdict, FindsNothingWhereAllIsWell) {
  EXPECT_EQ(broken(), rules{});
  in_copies(2);
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Verdict, FindsARepetition) {
  given[1].push_back(3);
  EXPECT_EQ(broken(), rules{"repeat"});
  first.of.ended = aborted("its rows went to others");
  first.may_fail = true;
  EXPECT_EQ(broken(), rules{"repeat"}) << "that it read so is no excuse";
  first.of.ended.reset();
  first.of.gone = true;
  EXPECT_EQ(broken(), rules{"repeat"}) << "what one that died may have handed out is lost";
}

TEST_F(Verdict, ExcusesUnderAtLeastOnceWhatOneThatIsGoneDidNotSay) {
  told.at_least_once = true;
  given[1].push_back(3);
  first.of.ended = aborted("its rows went to others");
  first.may_fail = true;
  EXPECT_EQ(broken(), rules{}) << "it read so";
  first.of.ended = unavailable("something else");
  EXPECT_EQ(broken(), rules{"repeat"});
  first.of.ended.reset();
  first.of.gone = true;
  EXPECT_EQ(broken(), rules{}) << "it died";
}

TEST_F(Verdict, FindsAnyLossUnderAtLeastOnceWhereAnyTrainerEndsWell) {
  told.at_least_once = true;
  EXPECT_EQ(broken(), rules{});
  given[1].pop_back();
  told.worker_away = true;
  told.single_rows = false;
  second.of.remark = "some may have come twice";
  EXPECT_EQ(broken(), rules{"lost"});
  first.of.ended.reset();
  first.of.gone = true;
  EXPECT_EQ(broken(), rules{"lost"}) << "what the dead one held is for the other";
  second.of.ended = unavailable("a wait was too long");
  second.may_fail = true;
  EXPECT_EQ(broken(), rules{}) << "nobody took it for the end";
}

TEST_F(Verdict, ExcusesARepetitionUnderAtLeastOnceWhereAWorkerWasAwayAndATrainerReadIt) {
  told.at_least_once = true;
  given[0].push_back(given[0].front());
  EXPECT_EQ(broken(), rules{"repeat"});
  told.worker_away = true;
  EXPECT_EQ(broken(), rules{"silent repeat"});
  second.of.remark = "some may have come twice";
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Verdict, FindsARepetitionToTheSameTrainerWhateverBecameOfIt) {
  given[0].push_back(3);
  first.of.gone = true;
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Verdict, TakesTheSameElementsOfJobsOfTheirOwnForNoRepetition) {
  told.shared = false;
  given[0] = given[1] = told.elements;
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Verdict, FindsALossOfWhichNobodyReads) {
  given[1].pop_back();
  EXPECT_EQ(broken(), (rules{"silent", "lost"}));
  first.of.remark = second.of.remark = "some are missing";
  EXPECT_EQ(broken(), rules{"lost"}) << "nothing excuses it";
  told.worker_away = true;
  EXPECT_EQ(broken(), rules{"lost"}) << "each row is a split of its own";
  told.single_rows = false;
  EXPECT_EQ(broken(), rules{});
  first.of.remark.clear();
  EXPECT_EQ(broken(), rules{"silent"});
}

TEST_F(Verdict, DoesNotMissWhatOneThatDiedMayHaveHad) {
  given[0].pop_back();
  first.of.ended.reset();
  first.of.gone = true;
  second.of.remark = "some are missing";
  EXPECT_EQ(broken(), rules{});
  second.of.remark.clear();
  EXPECT_EQ(broken(), rules{"silent"});
}

TEST_F(Verdict, FindsACopyThatIsNotWhole) {
  in_copies(2);
  given[0].pop_back();
  EXPECT_EQ(broken(), rules{"end"});
  told.steady = 1;
  EXPECT_EQ(broken(), rules{});
  told.steady = 0;
  given[0].resize(10);
  EXPECT_EQ(broken(), rules{"end"}) << "one there must be";
}

TEST_F(Verdict, FindsMoreCopiesThanThereWereWorkers) {
  in_copies(2);
  given[0].push_back(7);
  EXPECT_EQ(broken(), rules{"repeat"});
  told.copies = 3;
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Verdict, FindsACopyThatOneThatDiedHadAndThatCameAgain) {
  in_copies(2);
  given[1] = {7, 7};
  second.of.gone = true;
  second.of.ended.reset();
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Verdict, FindsAnElementThatIsNone) {
  given[1].push_back(20);
  EXPECT_EQ(broken(), rules{"foreign"});
}

TEST_F(Verdict, FindsAnErrorThatNothingExcuses) {
  first.of.ended = unavailable("out of the blue");
  EXPECT_EQ(broken(), rules{"error"});
  first.may_fail = true;
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Verdict, FindsAnErrorThatSaysNothingToItsUser) {
  first.may_fail = true;
  first.of.ended = status{status_code::unavailable, ""};
  EXPECT_EQ(broken(), rules{"unclear"});
  first.of.ended = status{status_code::internal, "no such stream"};
  EXPECT_EQ(broken(), rules{"unclear"});
}

TEST_F(Verdict, FindsAWaitThatIsTooLong) {
  first.longest_wait = 11s;
  EXPECT_EQ(broken(), rules{"wait"});
  first.longest_wait = 1s;
  first.of.ended.reset();
  first.of.gone = first.hung = true;
  EXPECT_EQ(broken(), rules{"wait"});
}

TEST_F(Verdict, FindsAServerThatDidNotEndInOrder) {
  told.servers[1].end = "exit code 77";
  EXPECT_EQ(broken(), rules{"exit"});
}

} // namespace
} // namespace headrace::detail::test
