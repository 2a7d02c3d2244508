#include "tests/actors/world/dispatcher_process.hpp"
#include "tests/actors/world/world.hpp"

namespace headrace::detail::test {

// Carries out the commands of a job's core, as job_state does.

void dispatcher_process::carry_out(job_id id, job_commands what) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end())
    return;
  const auto j = at->second; // keeps the job, which a command may remove from `jobs_`
  for (auto& x : what)
    if (waits_for_facts(x))
      j->steps.add(std::move(x), [&](const auto& y) { take(j, y); });
    else
      take(j, x);
  if (j->core)
    j->alarm->set(j->core->next_deadline(), [this, id] {
      if (auto* still = find(id); still != nullptr && still->core)
        carry_out(id, still->core->timer(now()));
    });
}

void dispatcher_process::take(const std::shared_ptr<job>& of,
                              const job_commands::value_type& what) {
  if (of->core)
    std::visit([&](const auto& x) { carry_out(*of, x); }, what);
}

void dispatcher_process::carry_out(job& of, const job_command::store& what) {
  const auto kept = [this, id = of.core->about().id, writer = of.writer,
                     group = of.steps.store()](const status&) {
    if (const auto at = jobs_.find(id); at != jobs_.end() && at->second->writer == writer)
      at->second->steps.kept(group, [&, of = at->second](const auto& x) { take(of, x); });
  };
  static_cast<void>(of.store->append(of.writer, what.facts, kept));
}

void dispatcher_process::note(job_id id, const job_record::fact& kept) {
  if (const auto* split = std::get_if<split_assigner::fact>(&kept.what)) {
    if (const auto* given = std::get_if<split_assigner::leased_to>(split); given && given->splits)
      world_.leased(given->task, *given->splits);
  } else if (std::holds_alternative<job_record::collected>(kept.what)) {
    ++world_.collected[{id, kept.repetition}];
  } else if (const auto* task = std::get_if<iteration::fact>(&kept.what)) {
    if (const auto* over = std::get_if<iteration::finished_as>(task); over && over->how.ok())
      world_.finished.insert(kept.repetition);
    if (const auto* is = std::get_if<iteration::task_is>(task))
      world_.task_is(id, kept.repetition, is->now);
  }
}

void dispatcher_process::carry_out(job&, const job_command::answer& what) {
  std::visit([this](const auto& x) { world_.traffic.count(x); }, what.what);
  answer(what.to, [&](auto& reply) {
    if (const auto* how = std::get_if<status>(&what.what)) {
      // An `ok` to a request for splits acknowledges that the task has closed a pass.
      if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<lease_answer>>>)
        if (how->ok())
          return reply(lease_answer{});
      return reply(*how);
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<iteration_view>>>)
      reply(std::get<iteration_view>(what.what));
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<lease_answer>>>)
      reply(std::get<lease_answer>(what.what));
  });
}

void dispatcher_process::to_job(job_id id, const std::function<job_commands(job_core&)>& event) {
  if (auto* j = find(id); j != nullptr && j->core)
    carry_out(id, event(*j->core));
}

void dispatcher_process::carry_out(job& of, const job_command::start_task& what) {
  world_.traffic.count(what.what, what.with_graph ? of.core->about().graph : buffer{});
  order(
    of, what.worker,
    [what](worker_process& to, const std::function<void(const status&)>& reply) {
      to.start_task(what.what, reply);
    },
    [this, id = of.core->about().id, what](const std::optional<status>& how) {
      to_job(id, [&](job_core& j) {
        return how ? j.start_answered(what, *how, now()) : j.start_unanswered(what, now());
      });
    });
}

void dispatcher_process::carry_out(job& of, const job_command::stop_task& what) {
  world_.traffic.count_stop(what.task, what.reason);
  order(
    of, what.worker,
    [what](worker_process& to, const std::function<void(const status&)>& reply) {
      to.stop_task(what.task, what.reason, reply);
    },
    [this, id = of.core->about().id, what](const std::optional<status>& how) {
      to_job(id, [&](job_core& j) { return j.stop_answered(what, how.has_value(), now()); });
    });
}

void dispatcher_process::carry_out(job& of, const job_command::name_readers& what) {
  world_.traffic.count(what.who);
  order(
    of, what.worker,
    [what](worker_process& to, const std::function<void(const status&)>& reply) {
      to.name_readers(what.who, reply);
    },
    [this, id = of.core->about().id, what](const std::optional<status>& how) {
      to_job(id, [&](job_core& j) { return j.readers_answered(what, how.has_value(), now()); });
    });
}

void dispatcher_process::order(
  job& of, worker_id who,
  std::function<void(worker_process&, const std::function<void(const status&)>&)> what,
  std::function<void(const std::optional<status>&)> heard) {
  auto* to = worker(who);
  if (to == nullptr) // the worker has no connection, so no answer comes in time
    return after(of.core->about().start_timeout, [heard] { heard(std::nullopt); });
  request(
    worker_ends_.at(who), of.core->about().start_timeout,
    [to, what, heard](replier reply) {
      what(*to, [reply, heard](const status& how) { reply([heard, how] { heard(how); }); });
    },
    [heard] { heard(std::nullopt); });
}

void dispatcher_process::carry_out(job& of, const job_command::announce& what) {
  for (auto who : what.to)
    if (const auto at = of.readers.find(who); at != of.readers.end()) {
      world_.traffic.count_announcement(what.what);
      auto* trainer = static_cast<trainer_process*>(at->second.over->ends[0].who);
      world_.net.send(at->second, [trainer, news = what.what] { trainer->told(news); });
    }
}

void dispatcher_process::carry_out(job& of, const job_command::drop_reader& what) {
  of.readers.erase(what.who.consumer);
}

void dispatcher_process::carry_out(job& of, const job_command::ended&) {
  const auto id = of.core->about().id;
  const auto& record = of.core->record();
  carry_out(core_->job_ended(id, record.past(), record.has_collected()));
}

} // namespace headrace::detail::test
