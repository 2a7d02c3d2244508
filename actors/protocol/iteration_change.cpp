#include "headrace/actors/protocol/iteration_change.hpp"

#include <map>
#include <utility>

namespace headrace::detail {

namespace {

enum class listed : uint8_t { running, starting, lost };
using task_map = std::map<task_id, std::pair<listed, task_address>>;

task_map tasks_of(const iteration_view& view) {
  task_map out;
  for (const auto& x : view.tasks) out[x.id] = {listed::running, x};
  for (const auto& x : view.starting) out[x.id] = {listed::starting, x};
  for (const auto& x : view.lost) out[x] = {listed::lost, {.id = x}};
  return out;
}

void list(iteration_view& in, const std::pair<listed, task_address>& task) {
  switch (task.first) {
  case listed::running: return in.tasks.push_back(task.second);
  case listed::starting: return in.starting.push_back(task.second);
  case listed::lost: return in.lost.push_back(task.second.id);
  }
}

iteration_view without_tasks(const iteration_view& of) {
  auto out = of;
  out.tasks.clear();
  out.starting.clear();
  out.lost.clear();
  out.gone.clear();
  out.since = 0;
  return out;
}

} // namespace

iteration_view change_between(const iteration_view& from, const iteration_view& to) {
  auto out = without_tasks(to);
  out.since = from.version;
  const auto before = tasks_of(from);
  const auto after = tasks_of(to);
  for (const auto& [id, task] : after)
    if (const auto known = before.find(id); known == before.end() || known->second != task)
      list(out, task);
  for (const auto& [id, task] : before)
    if (!after.contains(id))
      out.gone.push_back(id);
  return out;
}

std::optional<iteration_view> changed(const iteration_view& known, const iteration_view& change) {
  if (change.since == 0)
    return change;
  if (known.job != change.job || known.repetition != change.repetition
      || known.version < change.since)
    return {};
  auto tasks = tasks_of(known);
  for (auto& [id, task] : tasks_of(change)) tasks[id] = task;
  for (auto id : change.gone) tasks.erase(id);
  auto out = without_tasks(change);
  for (const auto& [id, task] : tasks) list(out, task);
  return out;
}

} // namespace headrace::detail
