#include "headrace/actors/job/iteration.hpp"
#include "headrace/actors/job/splits/shard_states.hpp"

#include <algorithm>

// This file decides from which workers readers read, and what a worker runs, keeps or may begin.

namespace headrace::detail {

bool iteration::has_reader(const worker_info& who) const {
  const auto reading = [&](consumer_id one) { return reads(one, who); };
  // If one consumer cannot read from the worker, no consumer can be handed a round of its task.
  if (rounds_.consumers() != 0)
    return !consumers_.empty() && std::ranges::all_of(consumers_, reading);
  return std::ranges::any_of(consumers_, reading);
}

bool iteration::may_begin_on(const worker_info& who) const {
  return has_reader(who)
         && (consumers_.size() >= rounds_.consumers() || may_read(reads_.targets, seat_of(who), 0));
}

bool iteration::reads(consumer_id reader, const worker_info& from) const {
  const auto at = places_.find(reader);
  return may_read(reads_.targets, seat_of(from), at != places_.end() ? at->second : 0);
}

bool iteration::counts(const task& what) const {
  return mode_ != sharding_policy::off || consumers_.empty() || has_reader(what.worker);
}

std::vector<task_id> iteration::unread_tasks() const {
  std::vector<task_id> out;
  if (!finished_ && !consumers_.empty())
    for (const auto& [id, task] : tasks_)
      if (task.alive() && !has_reader(task.worker))
        out.push_back(id);
  return out;
}

std::vector<uint32_t> iteration::wanted_shards() const {
  std::vector<uint32_t> out;
  const bool own = reads_.targets == target_workers::local && reads_.alone;
  for (uint32_t i = 0; i < shards_; ++i)
    if (!own
        || std::ranges::any_of(tasks_, [i](const auto& x) { return x.second.worker.shard == i; }))
      out.push_back(i);
  return out;
}

bool iteration::occupies(const task& what, const worker_info& who) const {
  // In coordinated reads, a task that left when the rounds began anew was replaced by a newer one.
  const bool left = what.state == task_state::left;
  const bool anew = is_static(mode_) || rounds_.consumers() != 0;
  return what.state != task_state::lost && !(left && anew)
         && (what.alive() || !is_static(mode_) || what.worker.shard == who.shard);
}

bool iteration::serves(const worker_info& who) const {
  return std::ranges::any_of(tasks_, [&](const auto& entry) {
    const auto& t = entry.second;
    return t.runs_on(who) && occupies(t, who);
  });
}

bool iteration::may_begin_shard(const worker_info& who) const {
  const auto states = states_of_shards(tasks_, shards_);
  return who.shard && *who.shard < states.size() && states[*who.shard] == shard_state::unserved;
}

const iteration::task* iteration::resumable(const worker_info& who) const {
  if (finished_ || gives_anew() || (is_static(mode_) && !may_begin_shard(who)))
    return nullptr;
  const task* newest = nullptr;
  for (const auto& [id, t] : tasks_)
    if (t.runs_on(who) && t.worker.shard == who.shard)
      newest = &t;
  return newest != nullptr && newest->state == task_state::lost ? newest : nullptr;
}

bool iteration::is_left_over(const task& what, const worker_info& on) const {
  if (!what.runs_on(on))
    return false;
  if (what.alive())
    return finished_;
  if (what.state != task_state::lost)
    return what.state == task_state::left;
  // The worker keeps a lost task that continues when a reader comes (`resumable`): a new task would
  // give that reader the elements from the beginning. A worker that drains continues no task.
  const auto* kept = on.draining ? nullptr : resumable(on);
  return kept == nullptr || kept->id != what.id;
}

} // namespace headrace::detail
