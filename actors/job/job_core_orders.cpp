#include "headrace/actors/job/job_core.hpp"

#include <algorithm>

namespace headrace::detail {

// The functions for orders to workers (StartTask, StopTask and TaskReaders). The orders are
// repeated until they are acknowledged or the worker is lost.

task_readers job_core::readers_of(const repetition& r, task_id task) const {
  const auto departed = departed_.find(task);
  std::vector<consumer_id> readers;
  for (auto one : r.state.consumers())
    if (r.state.reads(one, r.state.tasks().at(task).worker))
      readers.push_back(one);
  return {task, r.state.version(), std::move(readers), r.state.nodes(),
          departed != departed_.end() ? departed->second : std::map<consumer_id, uint64_t>{}};
}

void job_core::name_readers(const repetition& r, const iteration::task& what) {
  if (workers_.contains(what.worker.id))
    todo_.push_back(job_command::name_readers{what.worker.id, readers_of(r, what.id)});
}

job_commands job_core::start_unanswered(const job_command::start_task& asked, time_point now) {
  now_ = now;
  unanswered_starts_.insert(asked.what.id);
  repeat_later();
  return finish();
}

job_commands job_core::stop_answered(const job_command::stop_task& what, bool answered,
                                     time_point now) {
  now_ = now;
  if (answered)
    stops_.erase(what.task);
  else
    repeat_later();
  return finish();
}

job_commands job_core::readers_answered(const job_command::name_readers& what, bool answered,
                                        time_point now) {
  now_ = now;
  if (answered) {
    // A task that was forgotten has no entry.
    if (const auto at = readers_known_.find(what.who.task); at != readers_known_.end())
      at->second = std::max(at->second, what.who.version);
    forget_departed(what.who);
  } else {
    repeat_later();
  }
  return finish();
}

void job_core::forget_departed(const task_readers& known) {
  const auto at = departed_.find(known.task);
  if (at == departed_.end())
    return;
  for (const auto& [who, mark] : known.departed)
    if (const auto one = at->second.find(who); one != at->second.end() && one->second == mark)
      at->second.erase(one);
  if (at->second.empty())
    departed_.erase(at);
}

void job_core::forget_orders(task_id id) {
  readers_known_.erase(id);
  departed_.erase(id);
  unanswered_starts_.erase(id);
}

void job_core::repeat_later() {
  if (!repeat_at_)
    repeat_at_ = now_ + about_.timing.heartbeat;
}

void job_core::repeat_orders(worker_id to) {
  const auto concerns = [&](worker_id who) { return workers_.contains(who) && (!to || who == to); };
  for (const auto& [number, r] : record_.repetitions())
    for (const auto& [id, task] : r.state.tasks()) {
      if (r.state.finished() || !task.alive() || !concerns(task.worker.id))
        continue;
      if (task.state == iteration::task_state::starting) {
        // The order may have been lost with the earlier connection.
        if (to || unanswered_starts_.contains(id))
          start(r, task);
      } else if (readers_known_[id] < readers_of(r, id).version) {
        name_readers(r, task);
      }
    }
  std::erase_if(stops_, [&](const auto& entry) { return !workers_.contains(entry.second.worker); });
  for (const auto& [id, order] : stops_)
    if (concerns(order.worker))
      todo_.push_back(order);
}

} // namespace headrace::detail
