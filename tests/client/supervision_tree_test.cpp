#include "headrace/client/supervision_tree.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(SupervisionTree, PutsEachTaskUnderItsWorkerWithItsRunnersRestarts) {
  service_status status;
  status.workers = {{.worker = 1, .alive = true}, {.worker = 2, .alive = false}};
  status.jobs = {{.job = 7,
                  .name = "train",
                  .state = "running",
                  .tasks = {{.task = 10, .worker = 1, .state = "running", .restarts = 3},
                            {.task = 11, .worker = 2, .state = "lost"}}}};
  const auto tree = supervision_tree(status);
  ASSERT_EQ(tree.size(), 3u);
  ASSERT_EQ(tree[0].children.size(), 1u);
  EXPECT_EQ(tree[0].children[0].name, "job 7 train");
  EXPECT_EQ(tree[1].state, "running");
  ASSERT_EQ(tree[1].children.size(), 1u);
  EXPECT_EQ(tree[1].children[0].name, "task a of job 7");
  ASSERT_EQ(tree[1].children[0].children.size(), 1u);
  EXPECT_EQ(tree[1].children[0].children[0].restarts, 3u);
  EXPECT_EQ(tree[2].state, "lost");
  EXPECT_EQ(tree[2].children.at(0).state, "lost");
}

} // namespace
} // namespace headrace
