#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/protocol/large_graph.hpp"

#include <algorithm>
#include <set>

namespace headrace::detail {

// The functions for workers and their tasks.

job_commands job_core::worker_came(const worker_info& who, time_point now) {
  now_ = now;
  const bool known = is_present(who);
  workers_[who.id] = who;
  // A worker that is in the table has only lost its connection or is about to leave: its tasks run.
  if (!known)
    for (auto& [number, r] : record_.repetitions()) {
      // The worker was not connected while there was no dispatcher, and may not have received its
      // last orders.
      for (const auto& [id, task] : r.state.tasks())
        if (task.alive() && task.runs_on(who) && !r.state.finished())
          start(r, task);
      if (!r.state.consumers().empty() && !who.draining)
        carry_out(r, r.state.worker_joined(who));
    }
  for (const auto& [number, r] : record_.repetitions()) stop_left_over(r, who);
  // Messages over the earlier connection may have been lost.
  if (known)
    repeat_orders(who.id);
  return finish();
}

job_commands job_core::worker_lost(worker_id who, time_point now) {
  now_ = now;
  workers_.erase(who);
  for (auto& [number, r] : record_.repetitions()) lose(r, who);
  return finish();
}

bool job_core::is_present(const worker_info& who) const {
  const auto at = workers_.find(who.id);
  return at != workers_.end() && at->second.life == who.life;
}

void job_core::lose_missing() {
  if (!missing_at_ || *missing_at_ > now_)
    return;
  missing_at_.reset();
  for (auto& [number, r] : record_.repetitions()) {
    lose_missing(r, false);
    // Under a static policy, a worker that replaces a missing one now begins that one's shard.
    carry_out(r, r.state.workers_present(takers()));
  }
}

void job_core::lose_missing(repetition& r, bool replaced) {
  std::set<worker_id> missing;
  for (const auto& [id, task] : r.state.tasks())
    if (task.alive() && !is_present(task.worker)
        && (!replaced || workers_.contains(task.worker.id)))
      missing.insert(task.worker.id);
  for (auto who : missing) lose(r, who);
}

void job_core::lose(repetition& r, worker_id who) {
  auto rest = rest_of(r);
  rest.unsettled |= std::ranges::any_of(r.state.tasks(), [&](const auto& entry) {
    const auto& [id, task] = entry;
    return task.worker.id == who && task.alive() && r.leases.has(id);
  });
  carry_out(r, r.state.worker_lost(who, rest));
}

void job_core::settle_losses(repetition& r) {
  const auto number = r.state.repetition();
  while (auto known = r.leases.settle()) {
    const auto id = known->outcome.task;
    const auto& lost = known->outcome.lost;
    const bool back = !known->back.empty();
    say(log_level::warn, "a task is lost with its worker",
        {{"task", to_string(id)},
         {"splits_that_may_lack_rows", lost.splits},
         {"splits_read_again", lost.reread},
         {"splits_that_may_come_twice", lost.repeated}});
    std::vector<job_record::fact> facts;
    if (about_.guarantee == delivery_guarantee::at_least_once && r.held.holds(id))
      facts.push_back({number, lease_history::fact{lease_history::kept{id}}});
    for (const auto& one : known->back) facts.push_back({number, split_assigner::fact{one}});
    facts.push_back({number, split_assigner::fact{split_assigner::task_gone{id}}});
    facts.push_back({number, lease_history::fact{known->outcome}});
    auto rest = rest_of(r, back);
    rest.unsettled = r.leases.unsettled(id);
    carry_out(r, r.state.task_settled(id, back, rest), std::move(facts));
  }
}

void job_core::stop_left_over(const repetition& r, const worker_info& on) {
  for (const auto& [id, task] : r.state.tasks())
    if (r.state.is_left_over(task, on))
      stop(task, "its job needs it no more");
}

void job_core::stop(const iteration::task& what, std::string reason) {
  if (!workers_.contains(what.worker.id))
    return;
  job_command::stop_task order{what.worker.id, what.id, std::move(reason)};
  stops_[what.id] = order;
  todo_.push_back(std::move(order));
}

void job_core::start(const repetition& r, const iteration::task& what, bool eager) {
  // A large graph (for instance with captured arrays) is sent only if the worker answers that it
  // does not have the graph.
  start(r, what, eager, about_.graph.size() < large_graph);
}

void job_core::start(const repetition& r, const iteration::task& what, bool eager,
                     bool with_graph) {
  if (!workers_.contains(what.worker.id))
    return;
  // An earlier order to stop that is not acknowledged must not be repeated: the task continues.
  stops_.erase(what.id);
  todo_.push_back(job_command::start_task{
    what.worker.id,
    {
      .id = what.id,
      .life = what.life,
      .job = about_.id,
      .repetition = r.state.repetition(),
      .policy = about_.policy,
      // Under OFF each copy of the graph has a seed of its own; under other policies all tasks have
      // the seed of the repetition, as if they were one run.
      .seed = about_.policy == sharding_policy::off ? r.seed ^ what.id.value : r.seed,
      .shared = !about_.name.empty(),
      .fingerprint = about_.fingerprint,
      .readers = readers_of(r, what.id),
      .lease = about_.timing.lease,
      .eager = eager,
      .shards = about_.shards(),
      .shard = what.worker.shard.value_or(0),
      .guarantee = about_.guarantee,
      .cache = about_.cache,
      .num_consumers = about_.num_consumers,
      .resumes = what.ran,
    },
    with_graph,
  });
}

job_commands job_core::start_answered(const job_command::start_task& asked, const status& answer,
                                      time_point now) {
  now_ = now;
  unanswered_starts_.erase(asked.what.id);
  auto& all = record_.repetitions();
  const auto found = all.find(asked.what.repetition);
  if (found == all.end())
    return finish();
  auto& r = found->second;
  const auto at = r.state.tasks().find(asked.what.id);
  if (at == r.state.tasks().end())
    return finish();
  const auto& task = at->second;
  const bool needed = task.alive() && !r.state.finished();
  if (answer.ok() && needed)
    readers_known_[task.id] = std::max(readers_known_[task.id], asked.what.readers.version);
  // A repeated order to start the task may have reached the worker after the order to stop it.
  if (const auto on = workers_.find(task.worker.id);
      answer.ok() && on != workers_.end() && r.state.is_left_over(task, on->second))
    stop(task, "its job needs it no more");
  if (!asked.with_graph && answer.code() == status_code::not_found) {
    if (needed)
      start(r, task, asked.what.eager, true);
    return finish();
  }
  auto rest = rest_of(r);
  rest.unsettled |= !answer.ok() && needed && r.leases.has(task.id);
  carry_out(r, r.state.task_started(task.id, answer, rest));
  return finish();
}

job_core::repetition* job_core::of_task(task_id id) {
  for (auto& [number, r] : record_.repetitions())
    if (r.state.tasks().contains(id))
      return &r;
  return nullptr;
}

job_commands job_core::task_ended(request_token request, const task_end& what, time_point now) {
  now_ = now;
  if (auto* r = of_task(what.id)) {
    for (const auto& one : what.closed) close(*r, what.id, one);
    switch (what.outcome) {
    case task_outcome::exhausted:
    case task_outcome::failed: ended(*r, what); break;
    case task_outcome::left: left(*r, what); break;
    case task_outcome::stopped: break; // the task was ordered to stop
    }
  }
  answer(request, status{});
  return finish();
}

void job_core::ended(repetition& r, const task_end& what) {
  auto held = held_of(r, what);
  const bool back = keep_for_readers(r, what, held);
  auto rest = rest_of(r, back);
  rest.held |= !held.empty();
  const auto decided =
    r.state.task_ended(what.id, what.life, what.made, what.failure, rest, what.by_itself);
  if (decided.facts.empty()) // a repeated report
    return;
  carry_out(r, decided, std::move(held));
  if (back)
    carry_out(r, r.state.task_settled(what.id, true, rest_of(r, true)));
  if (rest.held)
    conclude(r, {what.id});
}

void job_core::left(repetition& r, const task_end& what) {
  // The end of the task and the splits that it gives back are stored in one group, so that these
  // splits are not leased again while the task could still read them.
  std::vector<job_record::fact> facts;
  for (const auto& one : what.unread)
    for (const auto& back : r.splits.leave(what.id, one))
      facts.push_back({r.state.repetition(), split_assigner::fact{back}});
  bool back = !facts.empty();
  // In coordinated reads the consumers do not take the elements that the task gave for later
  // rounds, so the task is lost.
  if (about_.num_consumers != 0 && r.leases.has(what.id)) {
    auto rest = rest_of(r, back);
    rest.unsettled = true;
    const auto decided = r.state.task_lost(what.id, what.life, what.made, rest);
    if (!decided.facts.empty()) // otherwise the report is repeated
      carry_out(r, decided, std::move(facts));
    return;
  }
  bool holds = false;
  for (auto& one : held_of(r, what)) {
    holds = true;
    facts.push_back(std::move(one));
  }
  back |= keep_for_readers(r, what, facts);
  auto rest = rest_of(r, back);
  rest.held |= holds;
  const auto decided = r.state.task_left(what.id, what.life, what.made, rest);
  if (decided.facts.empty()) // a repeated report
    return;
  carry_out(r, decided, std::move(facts));
  if (rest.held)
    conclude(r, {what.id});
}

job_remainder job_core::rest_of(const repetition& r, bool given_back) const {
  job_remainder out{.splits = given_back || r.splits.has_rest(),
                    .unsettled = r.leases.unsettled(),
                    .held = !r.held.empty(),
                    .spent =
                      about_.policy == sharding_policy::dynamic && !given_back && r.splits.spent()};
  out.alive = takers();
  return out;
}

std::vector<worker_info> job_core::takers() const {
  std::vector<worker_info> out;
  for (const auto& [id, worker] : workers_)
    if (!worker.draining)
      out.push_back(worker);
  return out;
}

} // namespace headrace::detail
