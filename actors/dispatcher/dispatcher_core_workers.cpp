#include "headrace/actors/dispatcher/dispatcher_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

// This file registers workers, renews their leases, and handles workers that leave or are lost.

dispatcher_commands dispatcher_core::register_worker(request_token request,
                                                     const worker_registration& who,
                                                     time_point now) {
  auto info = who.info;
  if (const auto* other = workers_.rival(info)) {
    answer(request, refusal(info, *other));
    return finish();
  }
  const auto place = place_of(info, now);
  if (!place) {
    answer(request, refusal(info, place.status()));
    return finish();
  }
  info.shard = *place;
  const auto outcome = workers_.add(info, now);
  info.id = outcome.id;
  workers_.runs(info.id, who.tasks.size());
  // The order to leave also holds for another process that takes the worker's place, until that
  // process has left.
  const bool leave = record_.drains(info.id);
  if (leave)
    workers_.drain(info.id);
  info.draining |= leave;
  if (info.id > record_.last_worker())
    commit(service_record::worker_named{info.id});
  if (info.shard) {
    const auto known = record_.places().find(*info.shard);
    const worker_place now_has{info.id, info.data_address};
    if (known == record_.places().end() || known->second != now_has)
      commit(service_record::worker_placed{*info.shard, now_has});
  }
  if (outcome.replaced)
    lose(*outcome.replaced);
  todo_.push_back(dispatcher_command::keep_worker{request, info.id, info.life});
  if (outcome.joined)
    say(log_level::info, "worker joined",
        {{"worker", to_string(info.id)}, {"data", info.data_address}, {"pid", info.pid}});
  // If the job of a task is over, no job orders the worker to stop the task: the dispatcher
  // does so.
  for (const auto& task : who.tasks)
    if (!record_.jobs().contains(task.job))
      todo_.push_back(dispatcher_command::stop_task{info.id, task.id, "its job is over"});
  tell_jobs(info, false);
  const auto ready = workers_.ready();
  std::erase_if(awaiting_, [&](const awaiting& one) {
    if (one.workers > ready)
      return false;
    answer(one.request, status{});
    return true;
  });
  answer(request, worker_registered{info.id, terms_.timing, leave});
  answer_drains(now);
  return finish();
}

status dispatcher_core::refusal(const worker_info& who, const worker_info& other) {
  return refusal(who,
                 already_exists(fmt::format(
                   "another worker ({}, process {}) is alive at {}, the data address that this one "
                   "(process {}) tells as well: give each an address of its own, with --data-port "
                   "and --advertise, or with --advertise-data",
                   to_string(other.id), other.pid, other.data_address, who.pid)));
}

result<std::optional<uint32_t>> dispatcher_core::place_of(const worker_info& who, time_point now) {
  if (terms_.roster.empty())
    return std::optional<uint32_t>{};
  if (!first_came_)
    first_came_ = now;
  // Workers of the previous dispatcher may register again within one lease.
  const bool may_come_back = now < *first_came_ + terms_.timing.lease;
  const auto place =
    terms_.roster.place_for(who.data_address, record_.places(), [&](const worker_place& other) {
      const auto known = workers_.all().find(other.worker);
      return known != workers_.all().end() ? known->second.alive : may_come_back;
    });
  HEADRACE_TRY(place.status());
  return std::optional{*place};
}

status dispatcher_core::refusal(const worker_info& who, status why) {
  if (std::exchange(last_refused_, who.life) != who.life)
    say(log_level::warn, "worker refused", {{"why", to_string(why)}});
  return why;
}

dispatcher_commands dispatcher_core::worker_heartbeat(request_token request, worker_id who,
                                                      incarnation life,
                                                      const std::vector<running_task>& tasks,
                                                      bool leaving, time_point now) {
  if (workers_.renew(who, life, now)) {
    todo_.push_back(dispatcher_command::keep_report{request, who});
    workers_.runs(who, tasks.size());
    if (leaving)
      keep_from_tasks(who);
    // The order is repeated until the worker's heartbeat reports that the worker is leaving.
    heartbeat_heard heard{.leave = record_.drains(who) && !leaving,
                          .saves = !leaving && saves_.has_step_for(who)};
    for (const auto& task : tasks)
      if (!record_.jobs().contains(task.job))
        heard.unwanted.push_back(task.id);
    answer(request, std::move(heard));
  } else {
    answer(request,
           not_found(fmt::format("worker {} is not registered (any more)", to_string(who))));
  }
  answer_drains(now);
  return finish();
}

dispatcher_commands dispatcher_core::worker_leaves(request_token request, worker_id who,
                                                   incarnation life, uint32_t unfinished,
                                                   time_point now) {
  if (const auto gone = workers_.leave(who, life, unfinished)) {
    say(log_level::info, "worker left",
        {{"worker", to_string(gone->id)}, {"data", gone->data_address}});
    if (record_.drains(who))
      commit(service_record::worker_drained{who});
    forget_worker(*gone, false);
  }
  answer(request, status{});
  answer_drains(now);
  return finish();
}

void dispatcher_core::worker_disconnected(worker_id who, incarnation life) {
  workers_.disconnected(who, life);
}

dispatcher_commands dispatcher_core::timer(time_point now) {
  for (const auto& who : workers_.expire(now)) lose(who);
  answer_drains(now);
  return finish();
}

void dispatcher_core::lose(const worker_info& who) {
  say(log_level::warn, "worker lost", {{"worker", to_string(who.id)}, {"data", who.data_address}});
  forget_worker(who, true);
}

void dispatcher_core::forget_worker(const worker_info& who, bool lost) {
  todo_.push_back(dispatcher_command::drop_worker{who.id});
  tell_jobs(who, true);
  if (lost)
    saves_.worker_lost(who.id);
  else
    saves_.worker_left(who.id);
  look_at_saves();
}

void dispatcher_core::tell_jobs(const worker_info& who, bool lost) {
  for (auto job : running_) todo_.push_back(dispatcher_command::worker_changed{job, who, lost});
}

bool dispatcher_core::is_alive(worker_id who) const {
  const auto at = workers_.all().find(who);
  return at != workers_.all().end() && at->second.alive;
}

dispatcher_commands dispatcher_core::await_workers(request_token request, uint32_t workers) {
  if (workers_.ready() >= workers) {
    answer(request, status{});
    return finish();
  }
  awaiting_.push_back({request, workers});
  todo_.push_back(dispatcher_command::watch_asker{request});
  return finish();
}

void dispatcher_core::asker_gone(request_token request) {
  std::erase_if(awaiting_, [&](const awaiting& one) { return one.request == request; });
  std::erase_if(drains_, [&](const waiting_drain& one) { return one.request == request; });
  std::erase_if(awaited_saves_, [&](const auto& one) { return one.request == request; });
}

} // namespace headrace::detail
