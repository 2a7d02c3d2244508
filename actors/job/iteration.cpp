#include "headrace/actors/job/iteration.hpp"

#include <algorithm>
#include <iterator>

namespace headrace {

std::string_view to_string(iteration::task_state state) noexcept {
  switch (state) {
  case iteration::task_state::starting: return "starting";
  case iteration::task_state::running: return "running";
  case iteration::task_state::ended: return "ended";
  case iteration::task_state::failed: return "failed";
  case iteration::task_state::lost: return "lost";
  }
  return "unknown";
}

void iteration::commands::add(commands more) {
  std::move(more.stop.begin(), more.stop.end(), std::back_inserter(stop));
  std::move(more.start.begin(), more.start.end(), std::back_inserter(start));
  std::move(more.forget.begin(), more.forget.end(), std::back_inserter(forget));
  announce |= more.announce;
}

iteration::commands iteration::start_on(const worker_info& who) {
  commands out;
  task fresh{task_id{++last_task_}, incarnation{1}, who};
  tasks_.emplace(fresh.id, fresh);
  out.start.push_back(std::move(fresh));
  return out;
}

iteration::commands
iteration::consumer_joined(consumer_id who, const std::vector<worker_info>& alive, time_point now) {
  commands out;
  consumers_[who] = now;
  if (finished_ || opened_)
    return out;
  opened_ = true;
  for (const auto& worker : alive) out.add(start_on(worker));
  return out;
}

iteration::commands iteration::consumer_left(consumer_id who) {
  consumers_.erase(who);
  return {};
}

bool iteration::consumer_renewed(consumer_id who, time_point now) {
  auto at = consumers_.find(who);
  if (at == consumers_.end())
    return false;
  at->second = now;
  return true;
}

std::vector<consumer_id> iteration::silent_consumers(time_point now, duration lease) const {
  std::vector<consumer_id> out;
  for (const auto& [id, heard] : consumers_)
    if (heard + lease <= now)
      out.push_back(id);
  return out;
}

std::optional<time_point> iteration::oldest_renewal() const {
  auto oldest = std::min_element(consumers_.begin(), consumers_.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
  return oldest == consumers_.end() ? std::nullopt : std::optional{oldest->second};
}

std::vector<consumer_id> iteration::readers() const {
  std::vector<consumer_id> out;
  for (const auto& [id, heard] : consumers_) out.push_back(id);
  return out;
}

iteration::commands iteration::worker_joined(const worker_info& who) {
  if (!opened_ || finished_)
    return {};
  return start_on(who);
}

iteration::commands iteration::worker_lost(worker_id who) {
  commands out;
  for (auto& [id, t] : tasks_)
    if (t.worker.id == who && (t.state == task_state::starting || t.state == task_state::running)) {
      t.state = task_state::lost;
      out.forget.push_back(id);
      out.announce = true;
    }
  if (out.announce)
    conclude(out);
  return out;
}

iteration::commands iteration::task_started(task_id id, const status& how) {
  commands out;
  auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.state != task_state::starting)
    return out;
  if (!how.ok() && how.code() != status_code::unavailable
      && how.code() != status_code::deadline_exceeded)
    return task_ended(id, at->second.life, 0, how);
  // A worker that does not answer is for its lease to judge.
  at->second.state = how.ok() ? task_state::running : task_state::lost;
  if (!how.ok())
    out.forget.push_back(id);
  out.announce = true;
  conclude(out);
  return out;
}

iteration::commands iteration::task_ended(task_id id, incarnation life, uint64_t elements,
                                          const status& how) {
  commands out;
  auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.life != life || finished_)
    return out;
  auto& t = at->second;
  if (t.state != task_state::starting && t.state != task_state::running)
    return out;
  t.elements = elements;
  t.state = how.ok() ? task_state::ended : task_state::failed;
  out.forget.push_back(id);
  out.announce = true;
  if (!how.ok()) {
    failure_ = how;
    finished_ = true;
    for (const auto& [other, task] : tasks_)
      if (task.state == task_state::starting || task.state == task_state::running)
        out.stop.push_back(task);
    ++version_;
    return out;
  }
  conclude(out);
  return out;
}

iteration::commands iteration::cancel() {
  commands out;
  finished_ = true;
  for (const auto& [id, task] : tasks_)
    if (task.state == task_state::starting || task.state == task_state::running)
      out.stop.push_back(task);
  return out;
}

void iteration::conclude(commands& out) {
  ++version_;
  const auto count = [&](task_state state) {
    return std::count_if(tasks_.begin(), tasks_.end(),
                         [&](const auto& entry) { return entry.second.state == state; });
  };
  const bool busy = count(task_state::starting) + count(task_state::running) > 0;
  // A task that ended has seen the sources exhausted. Where all were lost, DYNAMIC has splits left
  // for a worker to come; under OFF each copy ends with its worker.
  const bool over =
    count(task_state::ended) > 0 || (mode_ == processing_mode::off && !tasks_.empty());
  if (!busy && over) {
    finished_ = true;
    out.announce = true;
  }
}

} // namespace headrace
