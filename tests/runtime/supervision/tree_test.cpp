#include "headrace/runtime/supervision/board.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

supervisor_snapshot supervisor(std::string path, std::vector<std::string> children) {
  supervisor_snapshot x{.path = std::move(path)};
  for (auto& id : children) x.children.push_back({.id = id, .state = child_state::running});
  return x;
}

TEST(SupervisionBoard, HangsSupervisorsBelowTheChildrenThatTheyAre) {
  supervision_board board;
  board.put(supervisor("node/worker", {"task 1", "task 2"}));
  board.put(supervisor("node/worker/task 1", {"runner"}));
  board.put(supervisor("node", {"worker"}));
  auto roots = board.roots();
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0].path, "node");
  auto& worker = roots[0].children.at(0).below.at(0);
  EXPECT_EQ(worker.path, "node/worker");
  EXPECT_EQ(worker.children.at(0).below.at(0).children.at(0).id, "runner");
  EXPECT_TRUE(worker.children.at(1).below.empty());
}

TEST(SupervisionBoard, ShowsASupervisorWithoutItsParentAsARoot) {
  supervision_board board;
  board.put(supervisor("node", {}));
  board.put(supervisor("node/lost", {"x"}));
  EXPECT_EQ(board.roots().size(), 2u);
  board.erase("node/lost");
  EXPECT_EQ(board.roots().size(), 1u);
}

TEST(SupervisionBoard, IsReadWhileSupervisorsOfSeveralThreadsChange) {
  supervision_board board;
  board.put(supervisor("node", {"0", "1", "2"}));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&board, path = "node/" + std::to_string(i)] {
      for (int k = 0; k < 300; ++k) {
        board.put(supervisor(path, {"x"}));
        board.erase(path);
      }
    });
  for (int k = 0; k < 300; ++k) EXPECT_EQ(board.roots().size(), 1u);
  threads.clear();
  EXPECT_EQ(board.roots(), std::vector{supervisor("node", {"0", "1", "2"})});
}

TEST(SupervisionTree, SurvivesItsMessage) {
  supervision_tree tree{
    "worker 12", {2, "exit code 75 (memory limit)"}, {supervisor("node", {"a", "b"})}};
  tree.roots[0].strategy = supervision_strategy::rest_for_one;
  tree.roots[0].abandoned = 1;
  tree.roots[0].children[1].below.push_back(supervisor("node/b", {"c"}));
  tree.roots[0].children[1].restarts = 4;
  tree.roots[0].children[1].restart = restart_policy::transient;
  tree.roots[0].children[1].last_reason = "internal: division by zero";
  auto back = decode(message<schema::SupervisionTree>::parse(encode(tree).bytes()));
  ASSERT_TRUE(back) << to_string(back.status());
  EXPECT_EQ(*back, tree);
}

TEST(SupervisionTree, IsNotReadFromDamagedBytes) {
  EXPECT_EQ(decode(message<schema::SupervisionTree>{}).status().code(), status_code::data_loss);
}

TEST(SupervisionTree, ReadsForPeople) {
  supervision_tree tree{"worker 12", {}, {supervisor("node", {"a", "b"})}};
  tree.roots[0].restarts = 4;
  tree.roots[0].children[1].below.push_back(supervisor("node/b", {"c"}));
  tree.roots[0].children[1].restarts = 4;
  tree.roots[0].children[1].last_reason = "internal: division by zero";
  EXPECT_EQ(render(tree),
            "worker 12\n"
            "  node  one_for_one, restarts below: 4\n"
            "    a  running\n"
            "    b  running, one_for_one, restarts: 4, last: internal: division by zero\n"
            "      c  running\n");
}

} // namespace
} // namespace headrace::detail
