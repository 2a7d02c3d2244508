#include "headrace/client/supervision_tree.hpp"

#include <fmt/format.h>

namespace headrace {
namespace {

supervised task_node(const job_status& job, const task_status& task) {
  supervised runner{"runner", task.state, task.restarts, {}, {}};
  return {fmt::format("task {:x} of job {:x}", task.task, job.job),
          task.state,
          0,
          {},
          {std::move(runner)}};
}

} // namespace

std::vector<supervised> supervision_tree(const service_status& x) {
  std::vector<supervised> out;
  auto& dispatcher = out.emplace_back(supervised{"dispatcher", "running", 0, {}, {}});
  for (const auto& job : x.jobs)
    dispatcher.children.push_back(
      {fmt::format("job {:x} {}", job.job, job.name.empty() ? "(anonymous)" : job.name),
       job.state,
       0,
       {},
       {}});
  for (const auto& worker : x.workers) {
    auto& node = out.emplace_back(supervised{
      fmt::format("worker {:x}", worker.worker), worker.alive ? "running" : "lost", 0, {}, {}});
    for (const auto& job : x.jobs)
      for (const auto& task : job.tasks)
        if (task.worker == worker.worker)
          node.children.push_back(task_node(job, task));
  }
  return out;
}

} // namespace headrace
