#include "headrace/actors/dispatcher/save_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

constexpr worker_id first{1}, second{2};
constexpr save_id saved{7};

save_entry entry(save_id id, const std::string& path = "/saved") {
  return {id, path, "d", "the graph", "AUTO"};
}

class SaveTable : public testing::Test {
protected:
  save_steps ask(worker_id who, std::vector<save_report> reports = {},
                 std::vector<save_question::working> running = {}) {
    return table.ask(who, "worker " + to_string(who),
                     {true, std::move(running), std::move(reports)}, 2);
  }
  /// The next step of a worker that has none. @pre exactly one save has a step for it
  save_order next(worker_id who, std::vector<save_report> reports = {}) {
    auto out = ask(who, std::move(reports));
    EXPECT_EQ(out.orders.size(), 1);
    return out.orders.empty() ? save_order{} : out.orders[0];
  }
  void plan(size_t pieces, bool all_there = false) {
    table.begin(entry(saved));
    const auto order = next(first);
    EXPECT_TRUE(std::holds_alternative<plan_step>(order.step));
    report_of_plan = {saved, order.number,
                      save_planned{.plan = 5, .there = std::vector<bool>(pieces, all_there)}};
  }
  static uint64_t piece_of(const save_order& x) { return std::get<piece_step>(x.step).piece; }
  static save_report done(const save_order& x) {
    if (std::holds_alternative<finish_step>(x.step))
      return {x.what.id, x.number, save_finished{{20, 200}}};
    return {x.what.id, x.number, piece_written{{10, 100}}};
  }

  save_table table{3, 1000};
  save_report report_of_plan;
};

TEST_F(SaveTable, GivesPiecesInTheirOrderAndFinishesWhenAllAreThere) {
  plan(2);
  const auto a = next(first, {report_of_plan});
  EXPECT_EQ(piece_of(a), 0);
  EXPECT_EQ(a.plan, 5);
  const auto b = next(second);
  EXPECT_EQ(piece_of(b), 1);
  EXPECT_TRUE(ask(second, {done(b)}).orders.empty()) << "one piece is not there";
  EXPECT_EQ(table.find(saved)->written, 1);
  const auto last = next(first, {done(a)});
  EXPECT_TRUE(std::holds_alternative<finish_step>(last.step));
  EXPECT_TRUE(table.take_ended().empty());
  ask(first, {done(last)});
  const auto over = table.take_ended();
  ASSERT_EQ(over.size(), 1);
  EXPECT_EQ(over[0].state, save_state::saved);
  EXPECT_EQ(over[0].amount, (save_written{20, 200}));
  EXPECT_EQ(table.size(), 0);
}

TEST_F(SaveTable, AStepOfAWorkerThatIsGoneIsForAnother) {
  plan(1);
  const auto a = next(first, {report_of_plan});
  EXPECT_FALSE(table.has_step_for(second));
  table.worker_lost(first);
  EXPECT_TRUE(table.has_step_for(second));
  const auto b = next(second);
  EXPECT_EQ(piece_of(b), 0);
  // The report of a lost worker is ignored, because its step was given to another worker. The
  // report of that worker counts.
  EXPECT_TRUE(ask(first, {done(a)}).orders.empty());
  EXPECT_EQ(table.find(saved)->written, 0);
  next(second, {done(b)});
  EXPECT_EQ(table.find(saved)->written, 1);
}

TEST_F(SaveTable, AnAnswerThatWasLostIsGivenAgain) {
  plan(3);
  const auto a = next(first, {report_of_plan});
  const auto again = next(first);
  EXPECT_EQ(piece_of(a), piece_of(again));
  EXPECT_NE(a.number, again.number);
  EXPECT_TRUE(ask(first, {}, {{saved, again.number}}).orders.empty()) << "it works on that";
  EXPECT_EQ(ask(first, {}, {{saved, a.number}}).over, std::vector{saved}) << "and not on this";
}

TEST_F(SaveTable, WhatIsThereIsNotWrittenAgain) {
  plan(3, true);
  const auto last = next(first, {report_of_plan});
  EXPECT_TRUE(std::holds_alternative<finish_step>(last.step));
}

TEST_F(SaveTable, AFailureNamesTheWorkerAndEndsTheSaveForAll) {
  plan(2);
  const auto a = next(first, {report_of_plan});
  const auto b = next(second);
  ask(first, {{saved, a.number, data_loss("a damaged file")}});
  const auto over = table.take_ended();
  ASSERT_EQ(over.size(), 1);
  EXPECT_EQ(over[0].failure, data_loss("worker 1: a damaged file"));
  EXPECT_EQ(ask(second, {}, {{saved, b.number}}).over, std::vector{saved});
}

TEST_F(SaveTable, AStepThatTakesWorkersWithItFailsTheSave) {
  plan(2);
  next(first, {report_of_plan});
  for (unsigned i = 1; i < save_table::most_losses; ++i) {
    table.worker_lost(first);
    ASSERT_TRUE(table.take_ended().empty()) << i;
    EXPECT_EQ(piece_of(next(first)), 0);
  }
  table.worker_lost(first);
  const auto over = table.take_ended();
  ASSERT_EQ(over.size(), 1);
  EXPECT_NE(over[0].failure.message().find("while they wrote piece 0"), std::string::npos);
  // A worker notes the failure in the folder, where readers of the pieces find it.
  EXPECT_TRUE(table.has_step_for(second));
  EXPECT_EQ(next(second).step, save_step{note_step{over[0].failure}});
  EXPECT_FALSE(table.has_step_for(second));
}

TEST_F(SaveTable, AStepWhoseWorkersLeaveInOrderIsNotCountedAsLost) {
  plan(2);
  next(first, {report_of_plan});
  for (unsigned i = 0; i <= save_table::most_losses; ++i) {
    table.worker_left(first);
    ASSERT_TRUE(table.take_ended().empty()) << i;
    EXPECT_EQ(piece_of(next(first)), 0);
  }
}

TEST_F(SaveTable, AFailureIsNotNotedInAFolderIntoWhichAnotherSaveHasBegun) {
  plan(1);
  next(first, {report_of_plan});
  for (unsigned i = 1; i < save_table::most_losses; ++i) {
    table.worker_lost(first);
    next(first);
  }
  table.worker_lost(first);
  ASSERT_EQ(table.take_ended().size(), 1);
  table.begin(entry(save_id{8}));
  EXPECT_TRUE(std::holds_alternative<plan_step>(next(second).step));
  EXPECT_TRUE(ask(first).orders.empty());
}

TEST_F(SaveTable, ASaveThatTakesWorkersWithItFailsAndOthersBesideItGoOn) {
  constexpr save_id good{1}, bad{2};
  for (const auto id : {good, bad}) table.begin(entry(id, "/" + to_string(id)));
  std::vector<save_report> plans;
  for (const auto& x : ask(first).orders)
    plans.push_back({x.what.id, x.number, save_planned{.plan = 5, .there = {false}}});
  ASSERT_EQ(plans.size(), 2);
  ASSERT_EQ(ask(first, plans).orders.size(), 2);
  table.worker_lost(first);
  // A step whose worker was lost is given only to a worker without another step, so that a further
  // loss shows which step causes it.
  for (int lives = 0; lives < 20 && table.size() != 0; ++lives) {
    auto orders = ask(first).orders;
    while (!orders.empty() && orders[0].what.id == good) {
      EXPECT_EQ(orders.size(), 1);
      orders = ask(first, {done(orders[0])}).orders;
    }
    if (!orders.empty() && std::holds_alternative<piece_step>(orders[0].step)) {
      EXPECT_TRUE(ask(first, {}, {{bad, orders[0].number}}).orders.empty()) << "it is alone";
      table.worker_lost(first);
    }
  }
  const auto ended = table.take_ended();
  EXPECT_EQ(ended.size(), 2u);
  for (const auto& x : ended)
    EXPECT_EQ(x.state, x.id == good ? save_state::saved : save_state::failed);
  EXPECT_EQ(table.size(), 0);
}

TEST_F(SaveTable, AWorkerTakesPartInAFewSavesAtATime) {
  for (uint64_t i = 1; i <= 5; ++i) table.begin(entry(save_id{i}, "/saved/" + std::to_string(i)));
  EXPECT_EQ(ask(first).orders.size(), 3);
  EXPECT_EQ(ask(second).orders.size(), 2);
  EXPECT_TRUE(ask(worker_id{3}).orders.empty());
}

TEST_F(SaveTable, AVersionOfOneTableIsNoneOfAnother) {
  save_table other{3, 2000};
  for (auto* one : {&table, &other}) one->begin(entry(saved));
  EXPECT_NE(table.find(saved)->version, other.find(saved)->version);
}

TEST_F(SaveTable, AWorkerThatLeavesGetsNothing) {
  table.begin(entry(saved));
  EXPECT_TRUE(table.ask(first, "", {.takes = false}, 1).orders.empty());
}

} // namespace
} // namespace headrace::detail::test
