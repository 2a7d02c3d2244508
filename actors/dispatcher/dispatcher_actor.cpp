#include "headrace/actors/dispatcher/dispatcher_actor.hpp"

#include "headrace/actors/dispatcher/status_report.hpp"
#include "headrace/actors/job/job_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <unistd.h>

namespace headrace {

namespace {

/// How many jobs' last reasons are remembered for consumers that ask for them.
constexpr size_t most_failed_jobs = 100;

/// Reads the request's arm, so that handlers need not.
schema::DispatcherMessage::Reader message_of(const envelope& in) { return in->getDispatcher(); }

template <class Fill>
envelope make_answer(const envelope& to, Fill&& fill) {
  return make_envelope(to->getRequestId(),
                       [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
}

std::string child_of(job_id id) { return fmt::format("job {:x}", id.value); }

job_id job_of(const std::string& child) {
  return job_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

envelope stop_order(task_id which, const std::string& why) {
  return make_envelope(0, [&](schema::Envelope::Builder b) {
    auto stop = b.initWorker().initStopTask();
    stop.setTaskId(which.value);
    stop.setReason(why);
  });
}

std::string_view text(capnp::Text::Reader in) { return {in.cStr(), in.size()}; }
buffer bytes(capnp::Data::Reader in) { return buffer::copy_of(in.begin(), in.size()); }
capnp::Data::Reader data(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

} // namespace

dispatcher_state::dispatcher_state(port::self_pointer<handle_type> self, dispatcher_options options,
                                   tree_place place, logger log)
  : self_(self),
    options_(options),
    log_(std::move(log)),
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path},
          {.started = [this](const std::string& child,
                             const caf::actor&) { job_started(job_of(child)); },
           .ended = [this](const std::string& child,
                           const status& why) { job_ended(job_of(child), why); },
           .gave_up = {},
           .dropped = [this](const std::string& child,
                             const status& why) { forget_job(job_of(child), why); }},
          place_.board),
    core_(options.store->recover().value()),
    workers_(options.timing),
    started_(now()) {
  // An earlier actor's jobs ended with it.
  const auto jobs = core_.jobs();
  for (const auto& [id, job] : jobs)
    forget_job(id, unavailable("the dispatcher was started again"));
}

port::behavior<dispatcher_state::handle_type> dispatcher_state::make_behavior() {
  team_.stop_before_owner();
  return {
    [this](const envelope& in) -> caf::result<envelope> {
      if (!in.valid())
        return make_bad_message(++bad_messages_, in.status().message());
      return answer(in);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch != armed_)
        return;
      for (const auto& who : workers_.expire(now())) lose(who);
      arm();
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

caf::result<envelope> dispatcher_state::answer(const envelope& in) {
  using arm = schema::DispatcherMessage;
  const auto id = in->getRequestId();
  switch (in->which()) {
  case schema::Envelope::DISPATCHER: break;
  default: return make_unsupported(static_cast<uint16_t>(in->which()), {}, id);
  }
  const auto request = message_of(in);
  switch (request.which()) {
  case arm::REGISTER_WORKER: return register_worker(in);
  case arm::WORKER_HEARTBEAT: return worker_heartbeat(in);
  case arm::REGISTER_DATASET: return register_dataset(in);
  case arm::GET_DATASET: return get_dataset(in);
  case arm::OPEN_ITERATION: return open_iteration(in);
  case arm::CONSUMER_HEARTBEAT:
    return to_job(in, job_id{request.getConsumerHeartbeat().getJobId()});
  case arm::LEAVE_ITERATION: return to_job(in, job_id{request.getLeaveIteration().getJobId()});
  case arm::LEASE_SPLITS: return to_job(in, job_id{request.getLeaseSplits().getJobId()});
  case arm::TASK_ENDED: return to_job(in, job_id{request.getTaskEnded().getJobId()});
  case arm::GET_STATUS: return get_status(in);
  case arm::AWAIT_WORKERS: return await_workers(in);
  default: return make_unsupported(static_cast<uint16_t>(request.which()), "dispatcher", id);
  }
}

// -- workers ------------------------------------------------------------------

envelope dispatcher_state::register_worker(const envelope& in) {
  auto wanted = message_of(in).getRegisterWorker();
  worker_info info{worker_id{wanted.getWorkerId()},
                   incarnation{wanted.getIncarnation()},
                   std::string{text(wanted.getDataAddress())},
                   std::string{text(wanted.getBootId())},
                   {},
                   wanted.getPid()};
  for (auto tag : wanted.getTags()) info.tags.emplace_back(text(tag));
  const auto sender = caf::actor_cast<published_actor>(self_->current_sender());
  if (!sender)
    return make_failure(
      invalid_argument("a worker registers with a request, not with a plain message"),
      in->getRequestId());
  const auto outcome = workers_.add(info, now());
  info.id = outcome.id;
  if (outcome.replaced)
    lose(*outcome.replaced);
  worker_handles_[info.id] = sender;
  if (outcome.joined)
    log_.info("worker joined",
              {{"worker", info.id}, {"data", info.data_address}, {"pid", info.pid}});
  // Tasks of jobs that are over: nobody else stops them.
  for (auto task : wanted.getTasks())
    if (!core_.jobs().contains(job_of_task(task_id{task})))
      port::tell(sender, stop_order(task_id{task}, "its job is over"));
  tell_jobs({info, sender, false});
  arm();
  const auto alive = workers_.alive().size();
  std::erase_if(awaiting_, [&](awaiting& one) {
    if (one.workers > alive)
      return false;
    one.answer.deliver(make_ok(one.request));
    return true;
  });
  return make_answer(in, [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initWorkerRegistered();
    out.setWorkerId(info.id.value);
    write_timing(out.initTiming(), workers_.timing());
  });
}

envelope dispatcher_state::worker_heartbeat(const envelope& in) {
  auto beat = message_of(in).getWorkerHeartbeat();
  const worker_id id{beat.getWorkerId()};
  if (!workers_.renew(id, incarnation{beat.getIncarnation()}, now()))
    return make_failure(not_found(fmt::format("worker {} is not registered (any more)", id.value)),
                        in->getRequestId());
  last_heartbeats_[id] = in;
  if (auto tree = beat.getTree(); tree.size() != 0)
    trees_[id] = bytes(tree);
  return make_ok(in->getRequestId());
}

void dispatcher_state::lose(const worker_info& who) {
  log_.warn("worker lost", {{"worker", who.id}, {"data", who.data_address}});
  worker_handles_.erase(who.id);
  last_heartbeats_.erase(who.id);
  trees_.erase(who.id);
  tell_jobs({who, {}, true});
}

void dispatcher_state::tell_jobs(const worker_change& change) {
  for (const auto& [id, job] : core_.jobs())
    if (auto actor = actor_of(id))
      port::tell(actor, make_local<worker_change>(change));
}

void dispatcher_state::arm() {
  if (auto at = workers_.next_deadline())
    port::remind(self_, std::max(*at - now(), duration{0}), atom::deadline_v, ++armed_);
}

time_point dispatcher_state::now() const { return self_->clock().now(); }

// -- datasets -----------------------------------------------------------------

envelope dispatcher_state::register_dataset(const envelope& in) {
  auto wanted = message_of(in).getRegisterDataset();
  auto fingerprint = wanted.getFingerprint();
  dataset_record record{bytes(wanted.getGraph()),
                        bytes(wanted.getElementSpec()),
                        {reinterpret_cast<const char*>(fingerprint.begin()), fingerprint.size()}};
  if (record.graph.empty() || record.fingerprint.empty())
    return make_failure(invalid_argument("a dataset is registered with its graph and fingerprint"),
                        in->getRequestId());
  auto id = core_.datasets().id_for(std::string{text(wanted.getDatasetId())}, record);
  if (!id)
    return make_failure(id.status(), in->getRequestId());
  commit(service_core::dataset_registered{*id, std::move(record)});
  return make_answer(
    in, [&](schema::DispatcherMessage::Builder b) { b.initDatasetDef().setDatasetId(*id); });
}

envelope dispatcher_state::get_dataset(const envelope& in) {
  const std::string id{text(message_of(in).getGetDataset())};
  auto found = core_.datasets().find(id);
  if (!found)
    return make_failure(found.status(), in->getRequestId());
  return make_answer(in, [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initDatasetDef();
    out.setDatasetId(id);
    out.setGraph(data((*found)->graph));
    out.setElementSpec(data((*found)->spec));
    out.setFingerprint({reinterpret_cast<const kj::byte*>((*found)->fingerprint.data()),
                        (*found)->fingerprint.size()});
  });
}

// -- jobs ---------------------------------------------------------------------

caf::result<envelope> dispatcher_state::open_iteration(const envelope& in) {
  auto job = find_or_start_job(message_of(in).getOpenIteration());
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
  auto failed = failed_jobs_.find(id);
  return make_failure(failed != failed_jobs_.end()
                        ? failed->second.with_context(fmt::format("job {} failed", id.value))
                        : not_found(fmt::format("there is no job {} (any more)", id.value)),
                      in->getRequestId());
}

job_handle dispatcher_state::actor_of(job_id id) const {
  return team_.find<job_handle>(child_of(id));
}

void dispatcher_state::commit(const service_core::fact& what) {
  if (auto kept = options_.store->append({what}); !kept)
    throw error{kept.with_context("storing what was decided")};
  core_.apply(what);
}

result<job_id> dispatcher_state::find_or_start_job(schema::OpenIteration::Reader wanted) {
  const std::string dataset_id{text(wanted.getDatasetId())};
  const std::string name{text(wanted.getJobName())};
  const auto mode = from_schema(wanted.getProcessingMode());
  HEADRACE_ASSIGN(auto dataset, core_.datasets().find(dataset_id));
  // Two registrations of one graph may share a named job; an anonymous one belongs to its consumer,
  // whose repeated request finds it again.
  const auto key = name.empty() ? fmt::format("consumer {}", wanted.getConsumerId())
                                : fmt::format("named {} {}", name, dataset->fingerprint);
  if (const auto* found = core_.job_of(key)) {
    if (found->mode != mode)
      return invalid_argument(
        fmt::format("job '{}' runs with processing mode {}; it cannot be joined with {}", name,
                    found->mode == processing_mode::off ? "off" : "dynamic",
                    mode == processing_mode::off ? "off" : "dynamic"));
    return found->id;
  }
  HEADRACE_ASSIGN(auto graph, decode_graph(dataset->graph));
  const job fresh{core_.next_job(), name, dataset_id, mode, key};
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
  auto actor = caf::actor_cast<caf::actor>(
    port::spawn<job_state>(self_->system(),
                           job_description{what.id, what.name, what.dataset_id, what.mode,
                                           dataset->graph, options_, job_stores_.at(what.id)},
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
    failed_jobs_.emplace(id, why);
    if (failed_jobs_.size() > most_failed_jobs)
      failed_jobs_.erase(failed_jobs_.begin());
  }
  // Nobody else would stop the tasks of a job that crashed.
  if (auto store = job_stores_.extract(id); !store.empty() && !why.ok())
    if (auto last = store.mapped()->recover())
      for (const auto& [number, r] : last->repetitions())
        for (const auto& [task, about] : r.core.tasks())
          if (auto to = worker_handles_.find(about.worker.id);
              about.alive() && to != worker_handles_.end())
            port::tell(to->second, stop_order(task, "its job failed"));
  if (auto waiting = held_.extract(id); !waiting.empty())
    for (auto& one : waiting.mapped())
      one.answer.deliver(make_failure(why.ok()
                                        ? not_found(fmt::format("job {} is over", id.value))
                                        : why.with_context(fmt::format("job {} failed", id.value)),
                                      one.what->getRequestId()));
  commit(service_core::job_over{id});
}

// -- introspection --------------------------------------------------------------

caf::result<envelope> dispatcher_state::await_workers(const envelope& in) {
  const auto wanted = message_of(in).getAwaitWorkers();
  if (workers_.alive().size() >= wanted)
    return make_ok(in->getRequestId());
  awaiting_.push_back({wanted, in->getRequestId(), self_->make_response_promise<envelope>()});
  return awaiting_.back().answer;
}

caf::result<envelope> dispatcher_state::get_status(const envelope& in) {
  // Each job tells its own; the last to answer completes the report.
  struct gathering {
    std::vector<envelope> jobs;
    size_t missing = 0;
    caf::typed_response_promise<envelope> answer;
  };
  auto all = std::make_shared<gathering>();
  all->answer = self_->make_response_promise<envelope>();
  for (const auto& [id, job] : core_.jobs()) all->missing += actor_of(id) ? 1 : 0;
  const auto complete = [this, all, request = in->getRequestId()] {
    all->answer.deliver(make_envelope(request, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initStatus();
      out.setUptimeNs(static_cast<uint64_t>((now() - started_).count()));
      out.setDatasets(static_cast<uint32_t>(core_.datasets().size()));
      out.setBadMessages(bad_messages_);
      write_status(out, workers_, last_heartbeats_, trees_, all->jobs, now());
      if (place_.board)
        out.setTree(
          data(encode({fmt::format("dispatcher, process {}", ::getpid()), place_.board->roots()})
                 .bytes()));
    }));
  };
  auto promise = all->answer;
  if (all->missing == 0)
    complete();
  for (const auto& [id, job] : core_.jobs()) {
    if (!actor_of(id))
      continue;
    const auto heard = [all, complete] {
      if (--all->missing == 0)
        complete();
    };
    port::request(self_, actor_of(id), std::chrono::seconds{1}, in)
      .then(
        [all, heard](const envelope& answer) {
          all->jobs.push_back(answer);
          heard();
        },
        [heard](const caf::error&) { heard(); });
  }
  return promise;
}

} // namespace headrace
