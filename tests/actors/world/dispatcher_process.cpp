#include "tests/actors/world/dispatcher_process.hpp"

#include "tests/actors/world/world.hpp"

#include <algorithm>

namespace headrace::test {

dispatcher_process::dispatcher_process(world& in)
  : virtual_process(in.time, "the dispatcher"), world_(in) {}

void dispatcher_process::on_started() {
  workers_ = std::make_unique<worker_table>(world_.about.timing);
}

void dispatcher_process::on_killed() {
  workers_.reset();
  worker_ends_.clear();
  jobs_.clear();
  by_key_.clear();
  waiting_.clear();
}

dispatcher_process::job* dispatcher_process::find(job_id id) {
  const auto at = jobs_.find(id);
  return at != jobs_.end() && !at->second.ended ? &at->second : nullptr;
}

request_token dispatcher_process::keep(waiting what) {
  const request_token out{++last_token_};
  waiting_.emplace(out, std::move(what));
  return out;
}

void dispatcher_process::crash_a_job() {
  for (auto& [id, j] : jobs_) {
    if (j.ended)
      continue;
    // Who waits for an answer sees that nobody will give one.
    for (auto& [token, what] : std::exchange(waiting_, {}))
      std::visit([](auto& reply) { reply(unavailable("the job is being started again")); }, what);
    j.readers.clear();
    j.leases.clear();
    start_job(j);
    return;
  }
}

// -- jobs -----------------------------------------------------------------------------------

void dispatcher_process::start_job(job& what) {
  const auto about = what.core ? what.core->about() : job_description{};
  what.core = std::make_unique<job_core>(about, what.store->recover().value(), workers_->alive(),
                                         time_.below(UINT64_MAX));
  carry_out(about.id, what.core->start(now()));
}

void dispatcher_process::open(const open_iteration& what, const connection_end& from,
                              answered<result<iteration_view>> reply) {
  auto id = what.job;
  if (!id) {
    const auto key =
      what.job_name.empty() ? "consumer " + to_string(what.consumer) : "named " + what.job_name;
    auto& known = by_key_[key];
    if (find(known) == nullptr) {
      known = job_id{time_.below(UINT64_MAX) + 1};
      job_description about{.id = known,
                            .name = what.job_name,
                            .dataset_id = what.dataset_id,
                            .policy = what.policy,
                            .plan = world_.plan,
                            .timing = world_.about.timing};
      auto& fresh = jobs_[known];
      fresh.store =
        std::make_shared<memory_store<job_record>>(job_record{known, what.policy, world_.plan});
      fresh.alarm = std::make_unique<virtual_alarm>(*this);
      fresh.core = std::make_unique<job_core>(about, fresh.store->recover().value(),
                                              workers_->alive(), time_.below(UINT64_MAX));
      carry_out(known, fresh.core->start(now()));
    }
    id = known;
  }
  auto* j = find(id);
  if (j == nullptr)
    return reply(not_found("there is no such job (any more)"));
  j->readers[what.consumer] = from;
  carry_out(id, j->core->open(keep(std::move(reply)), what, now()));
}

void dispatcher_process::heartbeat(const reader_of& who, const connection_end& from,
                                   answered<status> reply) {
  auto* j = find(who.job);
  if (j == nullptr)
    return reply(not_found("there is no such job (any more)"));
  j->readers[who.consumer] = from;
  carry_out(who.job, j->core->heartbeat(keep(std::move(reply)), who, now()));
}

void dispatcher_process::leave(const reader_of& who) {
  if (auto* j = find(who.job))
    carry_out(who.job, j->core->leave(keep(answered<status>{[](const status&) {}}), who, now()));
}

void dispatcher_process::lease(const splits_request& what, answered<result<splits_answer>> reply) {
  auto* j = find(what.job);
  if (j == nullptr)
    return reply(not_found("there is no such job (any more)"));
  const auto token = keep(std::move(reply));
  j->leases[token] = what;
  carry_out(what.job, j->core->lease(token, what, now()));
}

void dispatcher_process::task_ended(const task_end& what, answered<status> reply) {
  auto* j = find(what.job);
  if (j == nullptr)
    return reply(not_found("there is no such job (any more)"));
  carry_out(what.job, j->core->task_ended(keep(std::move(reply)), what, now()));
}

// -- workers --------------------------------------------------------------------------------

void dispatcher_process::accepted(const connection_end& at) {
  at.over->ends[at.side].on_closed = [this, over = at.over.get()](const status&) {
    for (const auto& [id, end] : worker_ends_)
      if (end.over.get() == over)
        if (const auto known = workers_->all().find(id); known != workers_->all().end())
          workers_->disconnected(id, known->second.info.life);
  };
}

void dispatcher_process::register_worker(const worker_registration& who, const connection_end& from,
                                         answered<result<worker_registered>> reply) {
  if (workers_->rival(who.info) != nullptr)
    return reply(already_exists("another worker is alive at this address"));
  auto info = who.info;
  const auto outcome = workers_->add(info, now());
  info.id = outcome.id;
  if (outcome.replaced)
    worker_changed(*outcome.replaced, true);
  worker_ends_[info.id] = from;
  auto* worker = static_cast<worker_process*>(from.over->ends[0].who);
  for (const auto& task : who.tasks)
    if (find(task.job) == nullptr)
      world_.net.send(from, [worker, id = task.id] { worker->stop_task(id, "its job is over"); });
  worker_changed(info, false);
  look_at_leases();
  reply(worker_registered{info.id, world_.about.timing});
}

void dispatcher_process::worker_heartbeat(const headrace::worker::heartbeat& what,
                                          answered<status> reply) {
  reply(workers_->renew(what.id, what.life, now()) ? status{}
                                                   : not_found("the worker is not registered"));
}

void dispatcher_process::worker_leaves(worker_id id, incarnation life) {
  if (const auto who = workers_->leave(id, life)) {
    worker_ends_.erase(id);
    worker_changed(*who, true);
  }
}

void dispatcher_process::worker_changed(const worker_info& who, bool lost) {
  for (auto& [id, j] : jobs_)
    if (!j.ended)
      carry_out(id, lost ? j.core->worker_lost(who.id, now()) : j.core->worker_came(who, now()));
}

void dispatcher_process::look_at_leases() {
  alarm_.set(workers_->next_deadline(), [this] {
    for (const auto& who : workers_->expire(now())) {
      worker_ends_.erase(who.id);
      worker_changed(who, true);
    }
    look_at_leases();
  });
}

// -- what a job decides ------------------------------------------------------------------------

void dispatcher_process::carry_out(job_id id, const job_commands& what) {
  const auto at = jobs_.find(id);
  for (const auto& one : what) std::visit([&](const auto& x) { carry_out(at->second, x); }, one);
  auto& j = at->second;
  if (j.ended)
    return;
  j.alarm->set(j.core->next_deadline(), [this, id] {
    if (auto* still = find(id))
      carry_out(id, still->core->timer(now()));
  });
}

void dispatcher_process::carry_out(job& of, const job_command::store& what) {
  static_cast<void>(of.store->append(what.facts));
  for (const auto& fact : what.facts) {
    if (const auto* split = std::get_if<split_assigner::fact>(&fact.what)) {
      if (const auto* given = std::get_if<split_assigner::leased_to>(split); given && given->splits)
        world_.leased(given->task, *given->splits);
    } else if (const auto* task = std::get_if<iteration::fact>(&fact.what)) {
      if (const auto* is = std::get_if<iteration::task_is>(task))
        if (is->now.state == iteration::task_state::lost)
          world_.lost_tasks.insert(is->now.id);
    }
  }
}

void dispatcher_process::carry_out(job& of, const job_command::answer& what) {
  of.leases.erase(what.to);
  auto node = waiting_.extract(what.to);
  if (!node)
    return;
  struct {
    waiting& to;
    void operator()(const status& x) const {
      std::visit([&](auto& reply) { reply(x); }, to);
    }
    void operator()(const iteration_view& x) const {
      std::get<answered<result<iteration_view>>>(to)(x);
    }
    void operator()(const splits_answer& x) const {
      std::get<answered<result<splits_answer>>>(to)(x);
    }
  } deliver{node.mapped()};
  std::visit(deliver, what.what);
}

void dispatcher_process::carry_out(job& of, const job_command::start_task& what) {
  const auto to = worker_ends_.find(what.worker);
  if (to == worker_ends_.end() || !to->second)
    return;
  auto* worker = static_cast<worker_process*>(to->second.over->ends[0].who);
  const auto id = of.core->about().id;
  const auto answered = [this, id, what](const status& how) {
    if (auto* j = find(id))
      carry_out(id, j->core->start_answered(what, how, now()));
  };
  request(
    to->second, of.core->about().start_timeout,
    [worker, what, answered](replier reply) {
      worker->start_task(what.what, [reply, answered](const status& how) {
        reply([answered, how] { answered(how); });
      });
    },
    [answered] { answered(deadline_exceeded("no answer")); });
}

void dispatcher_process::carry_out(job&, const job_command::stop_task& what) {
  const auto to = worker_ends_.find(what.worker);
  if (to == worker_ends_.end())
    return;
  auto* worker = static_cast<worker_process*>(to->second.over->ends[0].who);
  world_.net.send(to->second, [worker, what] { worker->stop_task(what.task, what.reason); });
}

void dispatcher_process::carry_out(job& of, const job_command::announce& what) {
  for (auto who : what.to)
    if (const auto at = of.readers.find(who); at != of.readers.end()) {
      auto* trainer = static_cast<trainer_process*>(at->second.over->ends[0].who);
      world_.net.send(at->second, [trainer, news = what.what] { trainer->told(news); });
    }
}

void dispatcher_process::carry_out(job& of, const job_command::drop_reader& what) {
  of.readers.erase(what.who.consumer);
}

void dispatcher_process::carry_out(job& of, const job_command::ended&) { of.ended = true; }

} // namespace headrace::test
