#include "headrace/client/command/status/verdict_log.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::command {
namespace {

service_status where(double waited, const std::string& busiest) {
  service_status out;
  auto& job = out.jobs.emplace_back(job_status{.job = 7, .name = "train", .state = "running"});
  trainer_status trainer{.consumer = 1, .name = "a"};
  trainer.waited = waited;
  job.trainers.push_back(trainer);
  task_status task{.task = 1, .worker = 1, .state = "running"};
  operator_status op{.name = busiest};
  op.busy = 1;
  task.operators.push_back(op);
  job.tasks.push_back(task);
  return out;
}

TEST(VerdictChanges, AreNamedOnceTheyWereSeenTwice) {
  verdict_changes x;
  EXPECT_TRUE(x.look(where(0.5, "map(f)")).empty());
  ASSERT_EQ(x.look(where(0.6, "map(f)")).size(), 1u);
  EXPECT_TRUE(x.look(where(0.7, "map(f)")).empty()) << "that is known";
  EXPECT_TRUE(x.look(where(0.5, "map(g)")).empty());
  EXPECT_TRUE(x.look(where(0.5, "map(f)")).empty()) << "it was so for a moment";
  EXPECT_TRUE(x.look(where(0.5, "map(g)")).empty());
  ASSERT_EQ(x.look(where(0.5, "map(g)")).size(), 1u);
  EXPECT_TRUE(x.look(where(0.01, "map(g)")).empty());
  const auto last = x.look(where(0.01, "map(g)"));
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].cause, slow_part::trainers);
}

TEST(VerdictChanges, AreNotNamedWhileNothingIsKnown) {
  verdict_changes x;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(x.look(where(-1, "map(f)")).empty());
}

} // namespace
} // namespace headrace::detail::command
