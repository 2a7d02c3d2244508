#include "headrace/actors/worker/worker_actor.hpp"

#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/task/task_actor.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/runtime/node/boot_id.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace headrace {

worker_state::worker_state(port::self_pointer<handle_type> self, worker_options options,
                           address dispatcher, connector_actor connector,
                           std::shared_ptr<stream_router> router, logger log)
  : self_(self),
    options_(std::move(options)),
    log_(std::move(log)),
    router_(std::move(router)),
    life_{random_id()},
    watcher_(self),
    dispatcher_(self, watcher_, std::move(connector), std::move(dispatcher),
                {
                  .on_up = [this](const connection& to) { register_here(to); },
                  .on_down =
                    [this](const status& why) {
                      log_.warn("dispatcher lost", {{"why", why}});
                    },
                  .on_failed =
                    [this](const status& why, duration) {
                      log_.debug("dispatcher not reached", {{"why", why}});
                    },
                }) {}

worker_state::~worker_state() {
  for (const auto& [id, task] : tasks_) port::ask_to_exit(task.actor);
}

port::behavior<worker_handle> worker_state::make_behavior() {
  return {
    [this](const envelope& in) -> envelope {
      return in.valid() ? answer(in) : make_bad_message(1, in.status().message());
    },
    [this](atom::beat, uint64_t epoch) {
      if (epoch == beats_)
        beat();
    },
    [this](const local<task_report>& what) { on_report(*what); },
  };
}

envelope worker_state::answer(const envelope& in) {
  const auto id = in->getRequestId();
  if (in->which() != schema::Envelope::WORKER)
    return make_unsupported(static_cast<uint16_t>(in->which()), {}, id);
  const auto what = in->getWorker();
  switch (what.which()) {
  case schema::WorkerMessage::START_TASK: return start_task(what.getStartTask(), id);
  case schema::WorkerMessage::STOP_TASK: return stop_task(what.getStopTask(), id);
  default: return make_unsupported(static_cast<uint16_t>(what.which()), "worker", id);
  }
}

// -- tasks ----------------------------------------------------------------------

envelope worker_state::start_task(schema::StartTask::Reader wanted, uint64_t request) {
  const task_id id{wanted.getTaskId()};
  if (tasks_.contains(id))
    return make_ok(request);
  auto bytes = wanted.getGraph();
  auto graph = decode_graph(buffer::copy_of(bytes.begin(), bytes.size()));
  if (!graph)
    return make_failure(graph.status().with_context(fmt::format("task {}", id.value)), request);
  task_definition about{id,
                        incarnation{wanted.getIncarnation()},
                        job_id{wanted.getJobId()},
                        *std::move(graph),
                        wanted.getSeed(),
                        wanted.getRepetition(),
                        from_schema(wanted.getProcessingMode()) == processing_mode::dynamic,
                        wanted.getShared()};
  auto actor = port::spawn<task_state>(self_->system(), std::move(about), options_,
                                       worker_handle{self_}, log_);
  auto& fresh = tasks_[id];
  fresh.actor = actor;
  fresh.life = incarnation{wanted.getIncarnation()};
  fresh.job = job_id{wanted.getJobId()};
  fresh.watch = watcher_.watch(actor, [this, id](const caf::error& why) { task_down(id, why); });
  router_->add(id, actor);
  log_.info("task started", {{"task", id}, {"job", wanted.getJobId()}});
  return make_ok(request);
}

envelope worker_state::stop_task(schema::StopTask::Reader wanted, uint64_t request) {
  if (auto at = tasks_.find(task_id{wanted.getTaskId()}); at != tasks_.end()) {
    log_.debug("task stopped", {{"task", at->first}, {"why", std::string{wanted.getReason()}}});
    port::ask_to_exit(at->second.actor);
  }
  return make_ok(request);
}

void worker_state::task_down(task_id id, const caf::error& why) {
  auto at = tasks_.find(id);
  if (at == tasks_.end())
    return;
  router_->remove(id);
  const auto [life, job, numbers] = std::tuple{at->second.life, at->second.job, at->second.numbers};
  tasks_.erase(at);
  if (why && why != caf::make_error(caf::exit_reason::user_shutdown)) {
    log_.error("task failed", {{"task", id}, {"why", to_status(why)}});
    on_report({id, life, job, numbers, {}, to_status(why)});
  }
}

void worker_state::on_report(const task_report& what) {
  auto at = tasks_.find(what.id);
  if (at != tasks_.end())
    at->second.numbers = what.numbers;
  const auto* to = dispatcher_.get();
  if (what.wants) {
    // The runner waits; without a dispatcher it goes on waiting for its return.
    if (at == tasks_.end())
      return;
    auto task = at->second.actor;
    const auto run = what.wants->run;
    if (to == nullptr)
      return port::tell(
        task, make_local<task_event>(splits_answered{run, unavailable("the dispatcher is away")}));
    auto ask = make_envelope(0, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initLeaseSplits();
      out.setTaskId(what.id.value);
      out.setIncarnation(what.life.value);
      out.setJobId(what.job.value);
      out.setSource(what.wants->source);
      out.setPass(what.wants->pass);
      if (what.wants->total)
        out.getTotal().setSplits(*what.wants->total);
    });
    port::request(self_, *to, std::chrono::hours{24}, ask)
      .then(
        [task, run](const envelope& in) {
          result<std::optional<split_range>> answer = std::optional<split_range>{};
          if (auto how = status_of(in); !how) {
            answer = how;
          } else {
            auto leased = in->getDispatcher().getSplitsLeased();
            if (leased.isRange())
              answer = std::optional{
                split_range{leased.getRange().getFirst(), leased.getRange().getCount()}};
          }
          port::tell(task, make_local<task_event>(splits_answered{run, std::move(answer)}));
        },
        [task, run](const caf::error& why) {
          port::tell(task, make_local<task_event>(splits_answered{run, to_status(why)}));
        });
  }
  if (what.ended && to != nullptr) {
    auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initTaskEnded();
      out.setTaskId(what.id.value);
      out.setIncarnation(what.life.value);
      out.setJobId(what.job.value);
      out.setElements(what.numbers.elements);
      if (!what.ended->ok())
        write_failure(out.initFailure().initFailed(), *what.ended);
    });
    port::request(self_, *to, timing_.lease, say)
      .then([](const envelope&) {},
            [this, id = what.id](const caf::error& why) {
              log_.warn("the end of a task was not heard", {{"task", id}, {"why", to_status(why)}});
            });
  }
}

// -- dispatcher -------------------------------------------------------------------

void worker_state::register_here(const connection& to) {
  auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initRegisterWorker();
    out.setWorkerId(id_.value);
    out.setIncarnation(life_.value);
    out.setDataAddress(options_.data_address);
    out.setBootId(boot_id());
    out.setPid(static_cast<uint32_t>(getpid()));
    auto tags = out.initTags(static_cast<unsigned>(options_.tags.size()));
    for (unsigned i = 0; i < tags.size(); ++i) tags.set(i, options_.tags[i]);
    auto tasks = out.initTasks(static_cast<unsigned>(tasks_.size()));
    unsigned i = 0;
    for (const auto& [id, task] : tasks_) tasks.set(i++, id.value);
  });
  port::request(self_, to.actor, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        if (auto how = status_of(in); !how)
          return dispatcher_.renew(how);
        auto answer = in->getDispatcher().getWorkerRegistered();
        id_ = worker_id{answer.getWorkerId()};
        timing_ = read_timing(answer.getTiming());
        log_.info("registered", {{"worker", id_}, {"dispatcher", to_string(dispatcher_.where())}});
        port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
}

void worker_state::beat() {
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // registering anew starts the beat again
  auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initWorkerHeartbeat();
    out.setWorkerId(id_.value);
    out.setIncarnation(life_.value);
    auto tasks = out.initTasks(static_cast<unsigned>(tasks_.size()));
    unsigned i = 0;
    for (auto& [id, task] : tasks_) {
      auto one = tasks[i++];
      one.setTaskId(id.value);
      one.setElements(task.numbers.elements);
      one.setBytes(task.numbers.bytes);
      one.setStreams(task.numbers.streams);
      one.setRestarts(task.numbers.restarts);
      const auto seconds = std::chrono::duration<double>(timing_.heartbeat).count();
      one.setElementsPerSecond(static_cast<double>(task.numbers.elements - task.elements_before)
                               / seconds);
      task.elements_before = task.numbers.elements;
    }
  });
  port::request(self_, *to, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        // Not known there (any more): a new dispatcher, or our lease was over.
        if (auto how = status_of(in); !how)
          return dispatcher_.renew(how);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
  port::remind(self_, timing_.heartbeat, atom::beat_v, beats_);
}

} // namespace headrace
