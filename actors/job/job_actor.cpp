#include "headrace/actors/job/job_actor.hpp"

#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/job/large_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

namespace {

template <class Fill>
envelope make_answer(uint64_t request, Fill&& fill) {
  return make_envelope(request, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
}

} // namespace

job_state::job_state(port::self_pointer<handle_type> self, job_description about,
                     std::vector<worker_change> present, logger log)
  : self_(self),
    about_(std::move(about)),
    log_(log.with({{"job", about_.id}})),
    core_(about_.store->recover().value()) {
  for (auto& worker : present) workers_.emplace(worker.worker.id, std::move(worker));
}

port::behavior<job_handle> job_state::make_behavior() {
  take_over();
  return {
    [this](const envelope& in) { return answer(in); },
    [this](const local<worker_change>& change) { on_worker(*change); },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch == armed_)
        on_deadline();
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
    r.core.all_renewed(now());
    connected_[number].idle_since = now();
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

// -- consumers ------------------------------------------------------------------

job_state::repetition& job_state::begin(uint64_t number) {
  auto& all = core_.repetitions();
  if (!all.contains(number))
    commit({{number, job_core::begun{random_id()}}});
  return all.at(number);
}

envelope job_state::open(const envelope& in) {
  const auto wanted = in->getDispatcher().getOpenIteration();
  auto& r = begin(wanted.getRepetition());
  const consumer_id who{wanted.getConsumerId()};
  connected_[r.core.repetition()].readers[who] =
    caf::actor_cast<published_actor>(self_->current_sender());
  std::vector<worker_info> alive;
  for (const auto& [id, worker] : workers_) alive.push_back(worker.worker);
  carry_out(r, r.core.consumer_joined(who, alive));
  r.core.consumer_renewed(who, now());
  arm();
  return iteration_answer(r, in->getRequestId());
}

envelope job_state::renew(const envelope& in) {
  const auto beat = in->getDispatcher().getConsumerHeartbeat();
  const consumer_id who{beat.getConsumerId()};
  auto at = core_.repetitions().find(beat.getRepetition());
  if (at == core_.repetitions().end() || !at->second.core.consumer_renewed(who, now()))
    return make_failure(not_found(fmt::format("consumer {} is not a reader of job {} (any more)",
                                              beat.getConsumerId(), about_.id.value)),
                        in->getRequestId());
  // After a restart it is not known how to reach it, nor what it has missed.
  if (auto& reader = connected_[at->first].readers[who]; !reader) {
    reader = caf::actor_cast<published_actor>(self_->current_sender());
    announce(at->second);
  }
  return make_ok(in->getRequestId());
}

envelope job_state::leave(const envelope& in) {
  const auto bye = in->getDispatcher().getLeaveIteration();
  if (auto at = core_.repetitions().find(bye.getRepetition()); at != core_.repetitions().end())
    remove(at->second, consumer_id{bye.getConsumerId()});
  end_if_unused();
  return make_ok(in->getRequestId());
}

void job_state::remove(repetition& r, consumer_id who) {
  auto& seen = connected_[r.core.repetition()];
  seen.readers.erase(who);
  carry_out(r, r.core.consumer_left(who));
  if (r.core.consumers() == 0)
    seen.idle_since = now();
}

void job_state::end_if_unused() {
  auto& all = core_.repetitions();
  const bool read = std::any_of(
    all.begin(), all.end(), [](const auto& entry) { return entry.second.core.consumers() != 0; });
  if (read)
    return;
  const bool kept =
    !about_.name.empty() && std::any_of(all.begin(), all.end(), [&](const auto& entry) {
      return connected_[entry.first].idle_since + about_.options.idle_job > now();
    });
  if (kept)
    return arm();
  log_.info("job ended", {{"name", about_.name}});
  for (auto& [number, r] : all) carry_out(r, r.core.cancel());
  self_->quit();
}

envelope job_state::iteration_answer(const repetition& r, uint64_t request) const {
  return make_answer(request, [&](schema::DispatcherMessage::Builder b) {
    write_iteration(b.initIteration(), r.core, about_.id, !about_.name.empty(),
                    about_.options.timing);
  });
}

void job_state::announce(repetition& r) {
  const auto news = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_iteration(b.initConsumer().initIteration(), r.core, about_.id, !about_.name.empty(),
                    about_.options.timing);
  });
  for (const auto& [id, reader] : connected_[r.core.repetition()].readers)
    if (reader)
      port::tell(reader, news);
}

// -- workers and tasks ------------------------------------------------------------

void job_state::on_worker(const worker_change& change) {
  const auto id = change.worker.id;
  if (change.lost) {
    workers_.erase(id);
    for (auto& [number, r] : core_.repetitions()) carry_out(r, r.core.worker_lost(id));
    return;
  }
  const bool known = workers_.contains(id) && workers_.at(id).worker.life == change.worker.life;
  workers_[id] = change;
  if (known)
    return; // it lost its connection only: its tasks run
  for (auto& [number, r] : core_.repetitions())
    if (r.core.consumers() != 0)
      carry_out(r, r.core.worker_joined(change.worker));
}

void job_state::carry_out(repetition& r, const iteration::decision& decided) {
  const auto& todo = decided.todo;
  commit(core_.facts_of(r.core.repetition(), decided));
  for (auto id : todo.forget) drop_requests(r.core.repetition(), id);
  for (const auto& task : todo.stop)
    if (auto at = workers_.find(task.worker.id); at != workers_.end())
      port::tell(at->second.handle, make_envelope(0, [&](schema::Envelope::Builder b) {
                   auto stop = b.initWorker().initStopTask();
                   stop.setTaskId(task.id.value);
                   stop.setReason("its job needs it no more");
                 }));
  for (const auto& task : todo.start) start(r, task);
  if (todo.announce)
    announce(r);
  settle(r);
}

void job_state::start(repetition& r, const iteration::task& what) {
  // Large graphs (captured arrays) go once to each worker, which keeps some of them.
  const bool large = about_.graph.size() >= large_graph;
  start(r, what, large ? graph_is::left_out : graph_is::sent);
}

void job_state::start(repetition& r, const iteration::task& what, graph_is how) {
  auto at = workers_.find(what.worker.id);
  if (at == workers_.end())
    return;
  const auto order = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initWorker().initStartTask();
    out.setTaskId(what.id.value);
    out.setIncarnation(what.life.value);
    out.setJobId(about_.id.value);
    out.setRepetition(r.core.repetition());
    out.setProcessingMode(to_schema(about_.mode));
    if (how == graph_is::sent)
      out.setGraph({reinterpret_cast<const kj::byte*>(about_.graph.data()), about_.graph.size()});
    out.setFingerprint(
      {reinterpret_cast<const kj::byte*>(about_.fingerprint.data()), about_.fingerprint.size()});
    // Under OFF each copy of the graph draws its own; splits of DYNAMIC are one run in pieces.
    out.setSeed(about_.mode == processing_mode::off ? r.seed ^ what.id.value : r.seed);
    out.setShared(!about_.name.empty());
  });
  const auto heard = [this, number = r.core.repetition(), what, how](const status& answer) {
    const auto found = core_.repetitions().find(number);
    if (found == core_.repetitions().end())
      return;
    if (how == graph_is::left_out && answer.code() == status_code::not_found)
      return start(found->second, what, graph_is::sent);
    carry_out(found->second, found->second.core.task_started(what.id, answer));
  };
  port::request(self_, at->second.handle, about_.options.start_timeout, order)
    .then([heard](const envelope& in) { heard(status_of(in)); },
          [heard](const caf::error& why) { heard(to_status(why)); });
}

job_state::repetition* job_state::of_task(task_id id) {
  for (auto& [number, r] : core_.repetitions())
    if (r.core.tasks().contains(id))
      return &r;
  return nullptr;
}

envelope job_state::ended(const envelope& in) {
  const auto what = in->getDispatcher().getTaskEnded();
  const task_id id{what.getTaskId()};
  if (auto* r = of_task(id)) {
    const auto how =
      what.getFailure().isFailed() ? read_failure(what.getFailure().getFailed()) : status{};
    carry_out(*r,
              r->core.task_ended(id, incarnation{what.getIncarnation()}, what.getElements(), how));
  }
  return make_ok(in->getRequestId());
}

// -- splits -------------------------------------------------------------------------

caf::result<envelope> job_state::lease(const envelope& in) {
  const auto wanted = in->getDispatcher().getLeaseSplits();
  const task_id id{wanted.getTaskId()};
  auto* r = of_task(id);
  if (r == nullptr || about_.mode != processing_mode::dynamic)
    return make_failure(
      failed_precondition(fmt::format("task {} has no splits to lease", id.value)),
      in->getRequestId());
  connected::waiting entry{{id, wanted.getSource(), wanted.getPass(), {}},
                           in->getRequestId(),
                           self_->make_response_promise<envelope>()};
  if (wanted.getTotal().isSplits())
    entry.what.total = wanted.getTotal().getSplits();
  if (wanted.getNumber() != 0)
    entry.what.number = wanted.getNumber();
  auto& requests = connected_[r->core.repetition()].leases;
  // Put again: whoever asked before hears nothing more.
  std::erase_if(requests, [&](auto& earlier) {
    if (earlier.what.task != id || earlier.what.source != entry.what.source)
      return false;
    earlier.answer.deliver(make_failure(aborted("asked again"), earlier.request));
    return true;
  });
  auto promise = entry.answer;
  requests.push_back(std::move(entry));
  settle(*r);
  return promise;
}

void job_state::settle(repetition& r) {
  const auto number = r.core.repetition();
  auto& requests = connected_[number].leases;
  std::set<task_id> blocked;
  for (const auto& waiting : requests) blocked.insert(waiting.what.task);
  // One answer can make others possible, so again from the start until nothing changes.
  for (bool progress = true; progress;) {
    progress = false;
    for (auto at = requests.begin(); at != requests.end();) {
      if (auto news = r.splits.note(at->what))
        commit({{number, *std::move(news)}});
      const auto given = r.splits.decide(at->what, blocked, now());
      if (!given) {
        ++at;
        continue;
      }
      commit({{number, split_assigner::fact{*given}}});
      r.splits.keep_pace(*given, now());
      at->answer.deliver(make_answer(at->request, [&](schema::DispatcherMessage::Builder b) {
        auto out = b.initSplitsLeased();
        if (given->splits) {
          out.initRange().setFirst(given->splits->first);
          out.getRange().setCount(given->splits->count);
        } else {
          out.setExhausted();
        }
      }));
      blocked.erase(at->what.task);
      at = requests.erase(at);
      progress = true;
    }
  }
}

void job_state::drop_requests(uint64_t number, task_id of) {
  std::erase_if(connected_[number].leases, [&](auto& waiting) {
    if (waiting.what.task != of)
      return false;
    waiting.answer.deliver(
      make_failure(aborted(fmt::format("task {} is over", of.value)), waiting.request));
    return true;
  });
}

// -- time and introspection -----------------------------------------------------------

void job_state::arm() {
  std::optional<time_point> next;
  const auto consider = [&](time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [number, r] : core_.repetitions()) {
    if (auto oldest = r.core.oldest_renewal())
      consider(*oldest + about_.options.timing.lease);
    else
      consider(connected_[number].idle_since + about_.options.idle_job);
  }
  if (missing_at_)
    consider(*missing_at_);
  if (next)
    port::remind(self_, std::max(*next - now(), duration{0}), atom::deadline_v, ++armed_);
}

void job_state::on_deadline() {
  for (auto& [number, r] : core_.repetitions())
    for (auto who : r.core.silent_consumers(now(), about_.options.timing.lease)) {
      log_.warn("consumer lost", {{"consumer", who}});
      remove(r, who);
    }
  if (missing_at_ && *missing_at_ <= now()) {
    missing_at_.reset();
    for (auto& [number, r] : core_.repetitions()) {
      std::set<worker_id> missing;
      for (const auto& [id, task] : r.core.tasks())
        if (auto at = workers_.find(task.worker.id);
            task.alive() && (at == workers_.end() || at->second.worker.life != task.worker.life))
          missing.insert(task.worker.id);
      for (auto who : missing) carry_out(r, r.core.worker_lost(who));
    }
  }
  arm();
  end_if_unused();
}

envelope job_state::report(const envelope& in) const {
  return make_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    auto jobs = b.initStatus().initJobs(1);
    auto out = jobs[0];
    out.setJobId(about_.id.value);
    out.setName(about_.name);
    out.setDatasetId(about_.dataset_id);
    out.setProcessingMode(about_.mode == processing_mode::off ? "off" : "dynamic");
    const auto& all = core_.repetitions();
    if (all.empty())
      return;
    const auto& newest = all.rbegin()->second.core;
    if (!newest.failure().ok())
      out.setFailure(to_string(newest.failure()));
    out.setRepetition(newest.repetition());
    out.setConsumers(static_cast<uint32_t>(newest.consumers()));
    out.setState(!newest.failure().ok() ? "failed" : newest.finished() ? "finished" : "running");
    auto tasks = out.initTasks(static_cast<unsigned>(newest.tasks().size()));
    unsigned i = 0;
    for (const auto& [id, task] : newest.tasks()) {
      auto one = tasks[i++];
      one.setTaskId(id.value);
      one.setWorkerId(task.worker.id.value);
      one.setElements(task.elements);
      one.setState(std::string{to_string(task.state)});
    }
  });
}

} // namespace headrace
