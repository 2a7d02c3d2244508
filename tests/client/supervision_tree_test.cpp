#include "headrace/client/internal/supervision_tree.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using status_message = message<schema::ServiceStatus>;

capnp::Data::Reader data(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

TEST(SupervisionTree, ShowsWhatEachProcessSaysOfItself) {
  supervisor_snapshot task{.path = "node/worker/task a"};
  task.children = {{.id = "runner",
                    .state = child_state::waiting,
                    .restarts = 3,
                    .last_reason = "internal: out of luck"}};
  supervisor_snapshot node{.path = "node"};
  node.children = {{.id = "worker", .state = child_state::running}};
  node.children[0].below = {{.path = "node/worker"}};
  node.children[0].below[0].children = {{.id = "task a", .below = {task}}};
  const auto said = encode({"worker 1, process 77", {2, "signal 9 (Killed)"}, {node}}).bytes();
  const auto status = status_message::make([&](schema::ServiceStatus::Builder b) {
    auto workers = b.initWorkers(3);
    workers[0].setAlive(true);
    workers[0].setTree(data(said));
    workers[1].setWorkerId(2);
    workers[2].setWorkerId(3);
    workers[2].setTree(data(buffer::copy_of("not a message", 13)));
  });
  const auto tree = read_supervision(*status);
  ASSERT_EQ(tree.size(), 4u);
  EXPECT_EQ(tree[0].name, "dispatcher");
  EXPECT_EQ(tree[1].name, "worker 1, process 77");
  EXPECT_EQ(tree[1].state, "running");
  EXPECT_EQ(tree[1].restarts, 2u);
  EXPECT_EQ(tree[1].last_reason, "signal 9 (Killed)");
  const auto& worker = tree[1].children.at(0);
  EXPECT_EQ(worker.name, "worker");
  const auto& runner = worker.children.at(0).children.at(0);
  EXPECT_EQ(runner.name, "runner");
  EXPECT_EQ(runner.state, "waiting");
  EXPECT_EQ(runner.restarts, 3u);
  EXPECT_EQ(runner.last_reason, "internal: out of luck");
  EXPECT_EQ(tree[2].name, "worker 2");
  EXPECT_EQ(tree[2].state, "lost");
  EXPECT_EQ(tree[3].name, "worker 3");
  EXPECT_TRUE(tree[3].children.empty());
}

} // namespace
} // namespace headrace::detail
