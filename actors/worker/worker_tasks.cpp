#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/job/large_graph.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/worker/worker_actor.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace headrace {

// The tasks: ordered, run, over.

void write_unread(schema::UnreadSplits::Builder out, const unread_splits& what) {
  out.setSource(what.source);
  out.setPass(what.pass);
  out.setAnswered(what.answered);
  auto range = out.initRest();
  range.setFirst(what.rest.first);
  range.setCount(what.rest.count);
}

namespace {

std::string child_of(task_id id) { return fmt::format("task {:x}", id.value); }

} // namespace

task_id worker_state::task_named(const std::string& child) {
  return task_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

result<dataset_ptr> worker_state::graph_of(schema::StartTask::Reader wanted) {
  const auto print = wanted.getFingerprint().asChars();
  const auto bytes = wanted.getGraph();
  if (bytes.size() == 0) {
    if (auto known = graphs_.find({print.begin(), print.size()}))
      return known;
    return not_found("this worker does not have the graph");
  }
  HEADRACE_ASSIGN(auto graph, decode_graph(buffer::copy_of(bytes.begin(), bytes.size())));
  if (bytes.size() >= large_graph && print.size() != 0)
    graphs_.keep({print.begin(), print.size()}, graph, bytes.size());
  return graph;
}

envelope worker_state::start_task(schema::StartTask::Reader wanted, uint64_t request) {
  const task_id id{wanted.getTaskId()};
  if (auto at = tasks_.find(id); at != tasks_.end()) {
    // Its job may have been started again, and does not know who waits.
    ask_again(id, true);
    return make_ok(request);
  }
  if (unheard_ends_.contains(id)) {
    tell_end(id);
    return make_ok(request);
  }
  if (leaving_)
    return make_failure(unavailable("this worker is about to end"), request);
  auto graph = graph_of(wanted);
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
  fresh.rate.add(now(), 0);
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
    return look_if_left();
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
  on_report({.id = id,
             .life = task.about.life,
             .job = task.about.job,
             .numbers = task.memory->told(),
             .ended = why});
}

void worker_state::on_report(const task_report& what) {
  auto at = tasks_.find(what.id);
  if (at != tasks_.end()) {
    at->second.numbers = what.numbers;
    if (what.unread)
      at->second.unread = what.unread;
  }
  if (what.wants && at != tasks_.end()) {
    const auto& wish = what.wants->wish;
    const auto [slot, fresh] = at->second.asked.try_emplace(wish.which);
    slot->second.what = wish;
    if (fresh)
      ask_splits(what.id, wish.which);
  }
  if (!what.ended)
    return;
  unheard_ends_[what.id] = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initTaskEnded();
    out.setTaskId(what.id.value);
    out.setIncarnation(what.life.value);
    out.setJobId(what.job.value);
    out.setElements(what.numbers.elements);
    out.setBytes(what.numbers.bytes);
    out.setIgnored(what.numbers.ignored);
    out.setByItself(what.by_itself);
    std::vector<unread_splits> closed;
    if (at != tasks_.end())
      for (const auto& [which, ask] : at->second.asked)
        if (ask.what.closes)
          closed.push_back(*ask.what.closes);
    auto list = out.initClosed(static_cast<unsigned>(closed.size()));
    for (unsigned i = 0; i < closed.size(); ++i) write_unread(list[i], closed[i]);
    if (!what.ended->ok())
      write_failure(out.initFailure().initFailed(), *what.ended);
    else if (leaving_) {
      const auto unread =
        at != tasks_.end() && at->second.unread ? *at->second.unread : std::vector<unread_splits>{};
      auto left = out.initFailure().initLeft(static_cast<unsigned>(unread.size()));
      for (unsigned i = 0; i < unread.size(); ++i) write_unread(left[i], unread[i]);
    }
  });
  tell_end(what.id);
}

void worker_state::tell_end(task_id id) {
  const auto* to = dispatcher_.get();
  auto at = unheard_ends_.find(id);
  if (to == nullptr || at == unheard_ends_.end())
    return;
  port::request(self_, *to, timing_.lease, at->second)
    .then(
      [this, id](const envelope& in) {
        if (status_of(in).code() == status_code::unavailable)
          return; // told again with the next heartbeat
        unheard_ends_.erase(id);
        look_if_left();
      },
      [this, id](const caf::error& why) {
        log_.warn("the end of a task was not heard", {{"task", id}, {"why", to_status(why)}});
      });
}

} // namespace headrace
