#include "headrace/actors/dispatcher/dispatcher_actor.hpp"

#include "headrace/actors/dispatcher/status_report.hpp"
#include "headrace/actors/protocol/envelope_parts.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace headrace {

dispatcher_state::dispatcher_state(port::self_pointer<handle_type> self, dispatcher_options options,
                                   tree_place place, logger log)
  : self_(self),
    options_(options),
    log_(std::move(log)),
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path},
          {.started = [this](const std::string& child,
                             const caf::actor&) { job_started(job_named(child)); },
           .ended = [this](const std::string& child,
                           const status& why) { job_ended(job_named(child), why); },
           .gave_up = {},
           .dropped = [this](const std::string& child,
                             const status& why) { forget_job(job_named(child), why); }},
          place_.board),
    core_(options.store->recover().value()),
    workers_(options.timing),
    started_(now()) {
  // An earlier actor's jobs ended with it.
  const auto jobs = core_.jobs();
  for (const auto& [id, job] : jobs) forget_job(id, aborted("the dispatcher was started again"));
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
  const auto request = in->getDispatcher();
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
  case arm::LEAVE_SERVICE: return worker_leaves(in);
  case arm::GET_STATUS: return get_status(in);
  case arm::AWAIT_WORKERS: return await_workers(in);
  default: return make_unsupported(static_cast<uint16_t>(request.which()), "dispatcher", id);
  }
}

// -- datasets -----------------------------------------------------------------

envelope dispatcher_state::register_dataset(const envelope& in) {
  auto wanted = in->getDispatcher().getRegisterDataset();
  auto fingerprint = wanted.getFingerprint();
  dataset_record record{bytes_of(wanted.getGraph()),
                        bytes_of(wanted.getElementSpec()),
                        {reinterpret_cast<const char*>(fingerprint.begin()), fingerprint.size()}};
  if (record.fingerprint.empty())
    return make_failure(invalid_argument("a dataset is registered with its fingerprint"),
                        in->getRequestId());
  const bool known = core_.datasets().with_fingerprint(record.fingerprint) != nullptr;
  if (!known && record.graph.empty())
    return make_failure(not_found("no dataset of that fingerprint is registered"),
                        in->getRequestId());
  if (known) // Kept once.
    record.graph = record.spec = {};
  const std::string wanted_id{text_of(wanted.getDatasetId())};
  auto id = core_.datasets().id_for(wanted_id, record);
  if (!id)
    return make_failure(id.status(), in->getRequestId());
  commit(service_core::dataset_registered{*id, std::move(record),
                                          wanted.getForIteration() && wanted_id.empty()});
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    b.initDatasetDef().setDatasetId(*id);
  });
}

envelope dispatcher_state::get_dataset(const envelope& in) {
  const std::string id{text_of(in->getDispatcher().getGetDataset())};
  auto found = core_.datasets().find(id);
  if (!found)
    return make_failure(found.status(), in->getRequestId());
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initDatasetDef();
    out.setDatasetId(id);
    out.setGraph(data_of((*found)->graph));
    out.setElementSpec(data_of((*found)->spec));
    out.setFingerprint({reinterpret_cast<const kj::byte*>((*found)->fingerprint.data()),
                        (*found)->fingerprint.size()});
  });
}

time_point dispatcher_state::now() const { return self_->clock().now(); }

void dispatcher_state::commit(const service_core::fact& what) {
  if (auto kept = options_.store->append({what}); !kept)
    throw error{kept.with_context("storing what was decided")};
  core_.apply(what);
}

// -- introspection --------------------------------------------------------------

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
      out.setDatasets(static_cast<uint32_t>(core_.registered()));
      // Most are caught at the node's door.
      const auto counted = options_.counters ? options_.counters() : node_counters{};
      out.setBadMessages(bad_messages_ + counted.bad_messages);
      out.setRefusedPeers(counted.refused_hellos);
      write_status(out, workers_, {last_heartbeats_, trees_}, all->jobs, now());
      if (place_.board)
        out.setTree(data_of(encode({fmt::format("dispatcher, process {}", ::getpid()),
                                    options_.past, place_.board->roots()})
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
