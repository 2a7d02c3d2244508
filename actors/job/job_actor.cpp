#include "headrace/actors/job/job_actor.hpp"

#include "headrace/actors/dispatcher/dispatcher_message.hpp"

#include <algorithm>

namespace headrace {

job_state::job_state(port::self_pointer<handle_type> self, job_description about,
                     std::vector<worker_change> present, logger log)
  : self_(self),
    about_(std::move(about)),
    log_(log.with({{"job", about_.id}})),
    core_(about_.store->recover().value()),
    readers_heard_(
      {.heartbeat = about_.options.timing.heartbeat, .lease = about_.options.timing.lease}) {
  for (auto& worker : present) workers_.emplace(worker.worker.id, std::move(worker));
}

port::behavior<job_handle> job_state::make_behavior() {
  take_over();
  return {
    [this](const envelope& in) {
      auto out = answer(in);
      forget_spent();
      return out;
    },
    [this](const local<worker_change>& change) {
      on_worker(*change);
      forget_spent();
    },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch != armed_)
        return;
      on_deadline();
      forget_spent();
    },
  };
}

caf::result<envelope> job_state::answer(const envelope& in) {
  using arm = schema::DispatcherMessage;
  const auto request = in->getDispatcher();
  switch (request.which()) {
  case arm::OPEN_ITERATION: return open(in);
  case arm::CONSUMER_HEARTBEAT: return renew(in);
  case arm::LEAVE_ITERATION: return leave(in);
  case arm::LEASE_SPLITS: return lease(in);
  case arm::TASK_ENDED: return ended(in);
  case arm::GET_STATUS: return report(in);
  default:
    return make_unsupported(static_cast<uint16_t>(request.which()), "job", in->getRequestId());
  }
}

void job_state::take_over() {
  if (core_.repetitions().empty())
    return;
  missing_at_ = now() + about_.options.timing.lease;
  for (auto& [number, r] : core_.repetitions()) {
    for (auto who : r.core.consumers()) readers_heard_.grant({number, who}, now());
    connected_[number].idle_since = now();
    if (r.core.finished())
      continue; // its tasks were told to stop
    for (const auto& [id, task] : r.core.tasks())
      // One that runs asks again for the splits that it waits for.
      if (auto at = workers_.find(task.worker.id);
          task.alive() && at != workers_.end() && at->second.worker.life == task.worker.life)
        start(r, task);
  }
  arm();
}

void job_state::commit(const std::vector<job_core::fact>& facts) {
  if (facts.empty())
    return;
  if (auto kept = about_.store->append(facts); !kept)
    throw error{kept.with_context("storing what was decided")};
  for (const auto& x : facts) core_.apply(x);
}

// -- time and introspection -----------------------------------------------------------

void job_state::arm() {
  std::optional<time_point> next;
  const auto consider = [&](time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [number, r] : core_.repetitions()) {
    if (r.core.consumers().empty() && (!r.core.finished() || !is_read()))
      consider(connected_[number].idle_since + about_.options.idle_job);
  }
  if (const auto look = readers_heard_.next_deadline())
    consider(*look);
  if (missing_at_)
    consider(*missing_at_);
  if (next)
    port::remind(self_, std::max(*next - now(), duration{0}), atom::deadline_v, ++armed_);
}

void job_state::on_deadline() {
  for (const auto& [reader, what] : readers_heard_.advance(now())) {
    const auto& [number, who] = reader;
    log_.warn("consumer lost", {{"consumer", who}});
    remove(core_.repetitions().at(number), who);
  }
  if (missing_at_ && *missing_at_ <= now()) {
    missing_at_.reset();
    for (auto& [number, r] : core_.repetitions()) {
      std::set<worker_id> missing;
      for (const auto& [id, task] : r.core.tasks())
        if (auto at = workers_.find(task.worker.id);
            task.alive() && (at == workers_.end() || at->second.worker.life != task.worker.life))
          missing.insert(task.worker.id);
      for (auto who : missing) carry_out(r, r.core.worker_lost(who, rest_of(r)));
    }
  }
  if (is_read())
    cancel_idle();
  arm();
  end_if_unused();
}

envelope job_state::report(const envelope& in) const {
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    auto jobs = b.initStatus().initJobs(1);
    auto out = jobs[0];
    out.setJobId(about_.id.value);
    out.setName(about_.name);
    out.setDatasetId(about_.dataset_id);
    out.setProcessingMode(std::string{to_string(about_.mode)});
    const auto& all = core_.repetitions();
    if (all.empty())
      return;
    const auto& newest = all.rbegin()->second.core;
    if (!newest.failure().ok())
      out.setFailure(to_string(newest.failure()));
    out.setRepetition(newest.repetition());
    out.setConsumers(static_cast<uint32_t>(newest.consumers().size()));
    out.setState(!newest.failure().ok() ? "failed" : newest.finished() ? "finished" : "running");
    auto tasks = out.initTasks(static_cast<unsigned>(newest.tasks().size()));
    unsigned i = 0;
    for (const auto& [id, task] : newest.tasks()) {
      auto one = tasks[i++];
      one.setTaskId(id.value);
      one.setWorkerId(task.worker.id.value);
      one.setElements(task.made.elements);
      one.setBytes(task.made.bytes);
      one.setIgnored(task.made.ignored);
      one.setState(std::string{to_string(task.state)});
    }
  });
}

} // namespace headrace
