#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/dispatcher/dispatcher_message.hpp"
#include "headrace/actors/job/job_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace headrace {

// Which job a consumer means; the jobs' actors and their ends.

namespace {

/// How many jobs' last reasons are remembered for consumers that ask for them.
constexpr size_t most_failed_jobs = 100;

/// Random, so that a dispatcher that lost its state gives no job the number of an earlier one. Of
/// 53 bits, so that it is whole where JSON is read as floating point.
job_id new_job_id() { return job_id{random_id() >> 11 | 1}; }

std::string child_of(job_id id) { return fmt::format("job {:x}", id.value); }

} // namespace

job_id dispatcher_state::job_named(const std::string& child) {
  return job_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

caf::result<envelope> dispatcher_state::open_iteration(const envelope& in) {
  const auto wanted = in->getDispatcher().getOpenIteration();
  if (const job_id known{wanted.getJobId()})
    return to_job(in, known);
  auto job = find_or_start_job(wanted);
  if (!job)
    return make_failure(job.status(), in->getRequestId());
  return to_job(in, *job);
}

caf::result<envelope> dispatcher_state::to_job(const envelope& in, job_id id) {
  if (auto actor = actor_of(id))
    return port::delegate(self_, actor, in);
  if (core_.jobs().contains(id)) {
    auto& waiting = held_[id];
    waiting.push_back({in, self_->make_response_promise<envelope>()});
    return waiting.back().answer;
  }
  return without_job(in, id);
}

envelope dispatcher_state::without_job(const envelope& in, job_id id) const {
  const auto failed = std::ranges::find(failed_jobs_, id, &std::pair<job_id, status>::first);
  if (failed == failed_jobs_.end())
    return make_failure(not_found(fmt::format("there is no job {:x} (any more)", id.value)),
                        in->getRequestId());
  const auto why = failed->second.with_context(fmt::format("job {:x} failed", id.value));
  if (!in->getDispatcher().isOpenIteration())
    return make_failure(why, in->getRequestId());
  // Not a failure of the request, which may be put again where that helps: the job's own.
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initIteration();
    out.setJobId(id.value);
    out.setRepetition(in->getDispatcher().getOpenIteration().getRepetition());
    out.setVersion(std::numeric_limits<uint64_t>::max());
    out.setFinished(true);
    write_timing(out.initTiming(), options_.timing);
    write_failure(out.initFailure().initFailed(), why);
  });
}

job_handle dispatcher_state::actor_of(job_id id) const {
  return team_.find<job_handle>(child_of(id));
}

result<job_id> dispatcher_state::find_or_start_job(schema::OpenIteration::Reader wanted) {
  const std::string dataset_id{text_of(wanted.getDatasetId())};
  const std::string name{text_of(wanted.getJobName())};
  HEADRACE_ASSIGN(const auto mode, from_schema(wanted.getProcessingMode()));
  HEADRACE_ASSIGN(auto dataset, core_.datasets().find(dataset_id));
  // Two registrations of one graph may share a named job; an anonymous one belongs to its consumer,
  // whose repeated request finds it again.
  const auto key = name.empty() ? fmt::format("consumer {}", wanted.getConsumerId())
                                : fmt::format("named {} {}", name, dataset->fingerprint);
  if (const auto* found = core_.job_of(key)) {
    if (found->mode != mode)
      return invalid_argument(
        fmt::format("job '{}' runs with processing mode {}; it cannot be joined with {}", name,
                    to_string(found->mode), to_string(mode)));
    const auto id = found->id;
    if (core_.may_join(id, dataset_id))
      commit(service_core::job_joined{id, dataset_id});
    return id;
  }
  HEADRACE_ASSIGN(auto graph, decode_graph(dataset->graph));
  const job fresh{new_job_id(), name, dataset_id, mode, key};
  commit(service_core::job_started{fresh});
  job_stores_[fresh.id] =
    std::make_shared<memory_store<job_core>>(job_core{fresh.id, mode, plan_splits(graph)});
  if (auto how = team_.add({.id = child_of(fresh.id),
                            .restart = restart_policy::transient,
                            .own_budget = options_.restarts},
                           [this, fresh](uint64_t) { return run_job(fresh); });
      !how) {
    forget_job(fresh.id, how);
    return how;
  }
  log_.info("job started", {{"job", fresh.id}, {"name", name}, {"dataset", dataset_id}});
  return fresh.id;
}

result<caf::actor> dispatcher_state::run_job(const job& what) {
  HEADRACE_ASSIGN(const auto* dataset, core_.datasets().find(what.dataset_id));
  std::vector<worker_change> present;
  for (const auto& info : workers_.alive())
    if (auto handle = worker_handles_.find(info.id); handle != worker_handles_.end())
      present.push_back({info, handle->second, false});
  auto actor = caf::actor_cast<caf::actor>(port::spawn<job_state>(
    self_->system(),
    job_description{what.id, what.name, what.dataset_id, what.mode, dataset->graph,
                    dataset->fingerprint, options_, job_stores_.at(what.id)},
    std::move(present), log_));
  if (options_.on_job)
    options_.on_job(actor);
  return actor;
}

void dispatcher_state::job_started(job_id id) {
  auto waiting = held_.extract(id);
  if (waiting.empty())
    return;
  const auto actor = actor_of(id);
  for (auto& one : waiting.mapped()) one.answer.delegate(actor, one.what);
}

void dispatcher_state::job_ended(job_id id, const status& why) {
  if (why.ok())
    return forget_job(id, {});
  log_.error("job crashed", {{"job", id}, {"why", why}});
}

void dispatcher_state::forget_job(job_id id, const status& why) {
  team_.remove(child_of(id));
  if (!why.ok()) {
    log_.error("job failed", {{"job", id}, {"why", why}});
    failed_jobs_.emplace_back(id, why);
    if (failed_jobs_.size() > most_failed_jobs)
      failed_jobs_.pop_front();
  }
  // Nobody else would stop the tasks of a job that crashed.
  if (auto store = job_stores_.extract(id); !store.empty() && !why.ok())
    if (auto last = store.mapped()->recover())
      for (const auto& [number, r] : last->repetitions())
        for (const auto& [task, about] : r.core.tasks())
          if (auto to = worker_handles_.find(about.worker.id);
              about.alive() && to != worker_handles_.end())
            port::tell(to->second, stop_order(task, "its job failed"));
  commit(service_core::job_over{id});
  if (auto waiting = held_.extract(id); !waiting.empty())
    for (auto& one : waiting.mapped()) one.answer.deliver(without_job(one.what, id));
}

} // namespace headrace
