#include "headrace/actors/worker/worker_actor.hpp"

#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/runtime/node/boot_id.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace headrace {

namespace {

std::string child_of(task_id id) { return fmt::format("task {:x}", id.value); }

task_id task_of(const std::string& child) {
  return task_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

bool same_bytes(const buffer& a, const buffer& b) {
  return std::ranges::equal(a.as<std::byte>(), b.as<std::byte>());
}

} // namespace

worker_state::worker_state(port::self_pointer<handle_type> self, worker_options options,
                           address dispatcher, connector_actor connector,
                           std::shared_ptr<stream_router> router, tree_place place, logger log)
  : self_(self),
    options_(std::move(options)),
    log_(std::move(log)),
    router_(std::move(router)),
    life_{random_id()},
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path, .seed = life_.value},
          {.started = {},
           .ended = [this](const std::string& child,
                           const status& why) { task_down(task_of(child), why); },
           .gave_up = {},
           .dropped = [this](const std::string& child,
                             const status& why) { give_up(task_of(child), why); }},
          place_.board),
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
  for (const auto& [id, task] : tasks_) router_->remove(id);
}

port::behavior<worker_handle> worker_state::make_behavior() {
  team_.stop_before_owner();
  return {
    [this](const envelope& in) -> envelope {
      return in.valid() ? answer(in) : make_bad_message(1, in.status().message());
    },
    [this](atom::beat, uint64_t epoch) {
      if (epoch == beats_)
        beat();
    },
    [this](const local<task_report>& what) { on_report(*what); },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
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
  if (auto at = tasks_.find(id); at != tasks_.end()) {
    // Its job may have been started again, and does not know who waits.
    if (at->second.asked)
      ask_splits(id, splits_wanted{*at->second.asked});
    return make_ok(request);
  }
  if (unheard_ends_.contains(id)) {
    tell_end(id);
    return make_ok(request);
  }
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
  auto& fresh = tasks_[id];
  fresh.memory = std::make_shared<task_memory>(about.shared);
  fresh.about = std::move(about);
  if (auto how = team_.add(
        {.id = child_of(id), .restart = restart_policy::transient, .own_budget = options_.restarts},
        [this, id](uint64_t) { return run(id); });
      !how) {
    tasks_.erase(id);
    return make_failure(how, request);
  }
  log_.info("task started", {{"task", id}, {"job", wanted.getJobId()}});
  return make_ok(request);
}

result<caf::actor> worker_state::run(task_id id) {
  auto& task = tasks_.at(id);
  task.actor = port::spawn<task_state>(self_->system(), task.about, task.memory, options_,
                                       worker_handle{self_}, place_.below(child_of(id)), log_);
  router_->add(id, task.actor);
  return caf::actor_cast<caf::actor>(task.actor);
}

envelope worker_state::stop_task(schema::StopTask::Reader wanted, uint64_t request) {
  if (auto at = tasks_.find(task_id{wanted.getTaskId()}); at != tasks_.end()) {
    log_.debug("task stopped", {{"task", at->first}, {"why", std::string{wanted.getReason()}}});
    // One that is between two lives ends without a word.
    if (!at->second.actor)
      tasks_.erase(at);
    team_.remove(child_of(task_id{wanted.getTaskId()}));
  }
  return make_ok(request);
}

void worker_state::task_down(task_id id, const status& why) {
  auto at = tasks_.find(id);
  if (at == tasks_.end())
    return;
  router_->remove(id);
  at->second.actor = nullptr;
  if (why.ok()) {
    team_.remove(child_of(id));
    tasks_.erase(at);
    return;
  }
  log_.error("task crashed", {{"task", id}, {"why", why}});
  if (at->second.memory->torn)
    give_up(id, why.with_context(fmt::format("task {:x} broke off in the midst of a change", //
                                             id.value)));
}

void worker_state::give_up(task_id id, const status& why) {
  auto at = tasks_.find(id);
  if (at == tasks_.end())
    return;
  const auto task = std::move(at->second);
  tasks_.erase(at);
  team_.remove(child_of(id));
  for (const auto& [who, route] : task.memory->routes)
    if (route.over)
      send_failure(*route.over, route.channel, why);
  on_report({id, task.about.life, task.about.job, task.memory->numbers, {}, why});
}

void worker_state::ask_splits(task_id id, const splits_wanted& what) {
  auto& task = tasks_.at(id);
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // asked when it is back
  auto ask = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initLeaseSplits();
    out.setTaskId(id.value);
    out.setIncarnation(task.about.life.value);
    out.setJobId(task.about.job.value);
    out.setSource(what.which.source);
    out.setPass(what.which.pass);
    out.setNumber(what.which.number + 1);
    if (what.total)
      out.getTotal().setSplits(*what.total);
  });
  const auto number = ++task.asks;
  // The job may let it wait for long. It is asked again, as what waits there can be lost.
  port::request(self_, *to, timing_.lease, ask)
    .then(
      [this, id, number](const envelope& in) {
        if (auto how = status_of(in); !how)
          return answer_splits(id, number, how);
        auto leased = in->getDispatcher().getSplitsLeased();
        std::optional<split_range> given;
        if (leased.isRange())
          given = {leased.getRange().getFirst(), leased.getRange().getCount()};
        answer_splits(id, number, given);
      },
      [this, id, number](const caf::error& why) {
        auto at = tasks_.find(id);
        if (at == tasks_.end() || at->second.asks != number || !at->second.asked)
          return;
        if (const auto how = to_status(why); how.code() != status_code::deadline_exceeded)
          return dispatcher_.renew(how); // and ask when it is back
        ask_splits(id, splits_wanted{*at->second.asked});
      });
}

void worker_state::answer_splits(task_id id, uint64_t ask,
                                 result<std::optional<split_range>> what) {
  auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.asks != ask || !at->second.asked)
    return;
  // A task between two lives asks again, and is answered the same.
  const auto which = std::exchange(at->second.asked, {})->which;
  if (at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(splits_answered{which, std::move(what)}));
}

void worker_state::on_report(const task_report& what) {
  auto at = tasks_.find(what.id);
  if (at != tasks_.end())
    at->second.numbers = what.numbers;
  if (what.wants && at != tasks_.end()) {
    auto& asked = at->second.asked;
    const bool known = asked && asked->which == what.wants->which;
    asked = what.wants;
    if (!known)
      ask_splits(what.id, *what.wants);
  }
  if (!what.ended)
    return;
  unheard_ends_[what.id] = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initTaskEnded();
    out.setTaskId(what.id.value);
    out.setIncarnation(what.life.value);
    out.setJobId(what.job.value);
    out.setElements(what.numbers.elements);
    if (!what.ended->ok())
      write_failure(out.initFailure().initFailed(), *what.ended);
  });
  tell_end(what.id);
}

void worker_state::tell_end(task_id id) {
  const auto* to = dispatcher_.get();
  auto at = unheard_ends_.find(id);
  if (to == nullptr || at == unheard_ends_.end())
    return;
  port::request(self_, *to, timing_.lease, at->second)
    .then([this, id](const envelope&) { unheard_ends_.erase(id); },
          [this, id](const caf::error& why) {
            log_.warn("the end of a task was not heard", {{"task", id}, {"why", to_status(why)}});
          });
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
        told_tree_ = {};
        // What was said over the earlier connection may not have arrived.
        for (const auto& [id, task] : tasks_)
          if (task.asked)
            ask_splits(id, *task.asked);
        port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
}

size_t worker_state::look_for_stuck() {
  const auto stuck = options_.threads->stuck(now(), timing_.lease);
  if (options_.most_stuck != 0 && stuck >= options_.most_stuck && !told_stuck_) {
    told_stuck_ = true;
    const status why = resource_exhausted(fmt::format(
      "threads that were told to stop hang in foreign code, such as a file system or library that "
      "does not return: {}; the worker bears fewer than {}",
      stuck, options_.most_stuck));
    log_.error("threads are stuck", {{"why", why}});
    if (options_.on_stuck)
      options_.on_stuck(why);
  }
  return stuck;
}

void worker_state::beat() {
  for (const auto& [id, said] : unheard_ends_) tell_end(id);
  const auto stuck = look_for_stuck();
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // registering anew starts the beat again
  const auto tree =
    encode({fmt::format("worker {:x}, process {}", id_.value, ::getpid()),
            place_.board ? place_.board->roots() : std::vector<supervisor_snapshot>{}})
      .bytes();
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
    out.setStuckThreads(static_cast<uint32_t>(stuck));
    if (!same_bytes(tree, told_tree_))
      out.setTree({reinterpret_cast<const kj::byte*>(tree.data()), tree.size()});
  });
  told_tree_ = tree;
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
