#include "headrace/actors/dispatcher/dispatcher_message.hpp"
#include "headrace/actors/job/job_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/job/large_graph.hpp"

#include <algorithm>
#include <iterator>

namespace headrace {

// Workers and the tasks on them: who runs what, and what became of it.

void job_state::on_worker(const worker_change& change) {
  const auto id = change.worker.id;
  if (change.lost) {
    workers_.erase(id);
    for (auto& [number, r] : core_.repetitions()) carry_out(r, r.core.worker_lost(id, rest_of(r)));
    return;
  }
  const bool known = workers_.contains(id) && workers_.at(id).worker.life == change.worker.life;
  workers_[id] = change;
  // One that is known lost its connection only: its tasks run.
  if (!known)
    for (auto& [number, r] : core_.repetitions())
      if (!r.core.consumers().empty())
        carry_out(r, r.core.worker_joined(change.worker));
  // What stays given up, it runs in vain.
  for (const auto& [number, r] : core_.repetitions())
    for (const auto& [task, about] : r.core.tasks())
      if (about.state == iteration::task_state::lost && about.worker.id == id
          && about.worker.life == change.worker.life)
        port::tell(change.handle, stop_order(task, "it was given up"));
}

void job_state::carry_out(repetition& r, const iteration::decision& decided,
                          std::vector<job_core::fact> before) {
  const auto& todo = decided.todo;
  std::ranges::move(core_.facts_of(r.core.repetition(), decided), std::back_inserter(before));
  std::vector<task_id> kept;
  std::ranges::copy_if(todo.forget, std::back_inserter(kept),
                       [&](task_id id) { return r.splits.keeps_passes(id); });
  commit(before);
  for (auto id : kept)
    if (const auto state = r.core.tasks().at(id).state;
        state == iteration::task_state::lost || state == iteration::task_state::left)
      log_.warn("all later passes lack what a task kept in memory: its worker is gone",
                {{"task", id}, {"repetition", r.core.repetition()}});
  for (auto id : todo.forget) drop_requests(r.core.repetition(), id);
  for (const auto& task : todo.stop)
    if (auto at = workers_.find(task.worker.id); at != workers_.end())
      port::tell(at->second.handle, stop_order(task.id, "its job needs it no more"));
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
      out.setGraph(data_of(about_.graph));
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
    carry_out(found->second,
              found->second.core.task_started(what.id, answer, rest_of(found->second)));
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
    const incarnation life{what.getIncarnation()};
    const iteration::output made{what.getElements(), what.getBytes(), what.getIgnored()};
    const auto how = what.getFailure();
    for (auto one : what.getClosed()) close(*r, id, one);
    if (how.isLeft())
      left(*r, id, life, made, how.getLeft());
    else
      carry_out(*r, r->core.task_ended(id, life, made,
                                       how.isFailed() ? read_failure(how.getFailed()) : status{},
                                       rest_of(*r), what.getByItself()));
  }
  return make_ok(in->getRequestId());
}

} // namespace headrace
