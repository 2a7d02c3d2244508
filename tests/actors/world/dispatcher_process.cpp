#include "tests/actors/world/dispatcher_process.hpp"

#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/actors/world/world.hpp"

#include <algorithm>

namespace headrace::detail::test {

dispatcher_process::dispatcher_process(world& in)
  : virtual_process(in.time, "the dispatcher"), world_(in) {
  disk_.takes = [this] { return time_.between(duration{0}, world_.about.slowest_write); };
}

void dispatcher_process::on_started() {
  const auto lives = [this](service_record record) {
    store_ = std::make_shared<virtual_store<service_record>>(disk_, std::move(record));
    begin();
  };
  if (std::exchange(keeps_state_, false) && store_) {
    for (auto& [id, store] : job_stores_)
      store = std::make_shared<virtual_store<job_record>>(disk_, store->kept(),
                                                          [this, id = id](const auto& facts) {
                                                            for (const auto& x : facts) note(id, x);
                                                          });
    return lives(store_->kept());
  }
  job_stores_.clear();
  lives({});
  // Registers the dataset, as a client does before it reads.
  carry_out(core_->register_dataset(
    keep({.reply = answered<status>{[](const status&) {}}}),
    {.id = "d", .graph = encode_graph(world_.graph).value(), .fingerprint = "the graph"}));
}

void dispatcher_process::begin() {
  auto [writer, record] = store_->take_over();
  writer_ = writer;
  steps_ = {};
  // All entries of the list are equal, so that each worker may get any shard.
  const std::vector<std::string> list(world_.about.shards, "worker");
  core_ =
    std::make_unique<dispatcher_core>(service_terms{.timing = world_.about.timing,
                                                    .jobs = world_.about.jobs,
                                                    .roster = worker_roster::of(list).value()},
                                      std::move(record), time_.below(UINT64_MAX));
  carry_out(dispatcher_command::store{});
  carry_out(core_->start(now()));
}

void dispatcher_process::on_killed() {
  core_.reset();
  worker_ends_.clear();
  disk_.forget();
  jobs_.clear();
  waiting_.clear();
}

std::shared_ptr<virtual_store<job_record>> dispatcher_process::store_of(job_id id,
                                                                        const job_past& past) {
  auto& out = job_stores_[id];
  if (!out)
    out = std::make_shared<virtual_store<job_record>>(
      disk_,
      job_record{id,
                 world_.about.policy,
                 world_.plan,
                 past,
                 world_.about.shards,
                 world_.about.guarantee,
                 {world_.about.targets, world_.about.job_name.empty(), world_.about.num_consumers}},
      [this, id](const auto& facts) {
        for (const auto& x : facts) note(id, x);
      });
  return out;
}

dispatcher_process::job* dispatcher_process::find(job_id id) {
  const auto at = jobs_.find(id);
  return at != jobs_.end() ? at->second.get() : nullptr;
}

worker_process* dispatcher_process::worker(worker_id id) const {
  const auto at = worker_ends_.find(id);
  return at != worker_ends_.end() && at->second
           ? static_cast<worker_process*>(at->second.over->ends[0].who)
           : nullptr;
}

request_token dispatcher_process::keep(waiting what) {
  const request_token out{++last_token_};
  waiting_.emplace(out, std::move(what));
  return out;
}

void dispatcher_process::crash_a_job() {
  if (jobs_.empty() || !jobs_.begin()->second->core)
    return; // there is no job, or the job's actor has crashed already
  const auto id = jobs_.begin()->first;
  // Requests that the actor had not answered get no answer, and their senders see that the actor
  // has ended.
  for (auto& [token, what] : std::exchange(waiting_, {}))
    std::visit([](auto& reply) { reply(unavailable("the actor has ended")); }, what.reply);
  const auto about = find(id)->core->about();
  find(id)->core.reset();
  carry_out(core_->job_crashed(id, aborted("crashed")));
  after(std::chrono::milliseconds{20}, [this, id, about] {
    if (find(id) != nullptr)
      start_job(id, about);
  });
}

void dispatcher_process::crash() {
  for (auto& [token, what] : std::exchange(waiting_, {}))
    std::visit([](auto& reply) { reply(unavailable("the actor has ended")); }, what.reply);
  jobs_.clear();
  worker_ends_.clear();
  begin();
}

// -- from consumers ---------------------------------------------------------------------------

void dispatcher_process::open(const open_iteration& what, const connection_end& from,
                              answered<result<iteration_view>> reply) {
  world_.traffic.count(what);
  carry_out(core_->open_iteration(keep({.reply = std::move(reply),
                                        .from = from,
                                        .to_job =
                                          [this, what, from](job& to, request_token token) {
                                            to.readers[what.consumer] = from;
                                            return to.core->open(token, what, now());
                                          }}),
                                  what));
}

void dispatcher_process::heartbeat(const reader_heartbeat& what, const connection_end& from,
                                   answered<status> reply) {
  world_.traffic.count(what);
  carry_out(core_->for_job(keep({.reply = std::move(reply),
                                 .from = from,
                                 .to_job =
                                   [this, what, from](job& to, request_token token) {
                                     to.readers[what.who.consumer] = from;
                                     return to.core->heartbeat(token, what, now());
                                   }}),
                           what.who.job));
}

void dispatcher_process::leave(const leave_iteration& what, answered<status> reply) {
  world_.traffic.count(what);
  carry_out(core_->for_job(keep({.reply = std::move(reply),
                                 .to_job =
                                   [this, what](job& to, request_token token) {
                                     return to.core->leave(token, what, now());
                                   }}),
                           what.who.job));
}

// -- from workers -------------------------------------------------------------------------------

void dispatcher_process::lease(const splits_request& what, answered<result<lease_answer>> reply) {
  world_.traffic.count(what);
  carry_out(core_->for_job(keep({.reply = std::move(reply),
                                 .to_job =
                                   [this, what](job& to, request_token token) {
                                     return to.core->lease(token, what, now());
                                   }}),
                           what.job));
}

void dispatcher_process::task_ended(const task_end& what, answered<status> reply) {
  world_.traffic.count(what);
  carry_out(core_->for_job(keep({.reply = std::move(reply),
                                 .to_job =
                                   [this, what](job& to, request_token token) {
                                     return to.core->task_ended(token, what, now());
                                   }}),
                           what.job));
}

void dispatcher_process::accepted(const connection_end& at) {
  at.over->ends[at.side].on_closed = [this, over = at.over.get()](const status&) {
    for (const auto& [id, end] : worker_ends_)
      if (end.over.get() == over)
        if (const auto known = core_->workers().all().find(id);
            known != core_->workers().all().end())
          core_->worker_disconnected(id, known->second.info.life);
  };
}

void dispatcher_process::register_worker(const worker_registration& who, const connection_end& from,
                                         answered<result<worker_registered>> reply) {
  world_.traffic.count(who);
  carry_out(core_->register_worker(keep({.reply = std::move(reply), .from = from}), who, now()));
}

void dispatcher_process::worker_heartbeat(const detail::worker::heartbeat& what,
                                          answered<result<heartbeat_heard>> reply) {
  world_.traffic.count(what);
  std::vector<running_task> tasks;
  for (const auto& task : what.tasks) tasks.push_back({task.id, task.job});
  carry_out(core_->worker_heartbeat(keep({.reply = std::move(reply)}), what.id, what.life, tasks,
                                    what.leaving, now()));
}

void dispatcher_process::worker_leaves(worker_id id, incarnation life, uint32_t unfinished) {
  carry_out(core_->worker_leaves(keep({.reply = answered<status>{[](const status&) {}}}), id, life,
                                 unfinished, now()));
}

void dispatcher_process::drain(const drain_request& what, answered<result<worker_drains>> reply) {
  carry_out(core_->drain_worker(keep({.reply = std::move(reply)}), what, now()));
}

void dispatcher_process::ask_save_steps(const detail::worker::ask_save_steps& what,
                                        answered<result<save_steps>> reply) {
  carry_out(
    core_->ask_save_steps(keep({.reply = std::move(reply)}), what.id, what.life, what.what));
}

void dispatcher_process::save(answered<result<save_view>> reply) {
  carry_out(core_->save_dataset(keep({.reply = std::move(reply)}),
                                {.dataset = {.id = {},
                                             .graph = encode_graph(world_.graph).value(),
                                             .spec = {},
                                             .fingerprint = "the graph"},
                                 .path = "/saved",
                                 .compression = "AUTO"}));
}

// -- commands of the dispatcher's core ------------------------------------------------------------

void dispatcher_process::carry_out(dispatcher_commands what) {
  for (auto& x : what)
    if (waits_for_facts(x))
      steps_.add(std::move(x), [this](const auto& y) { take(y); });
    else
      take(x);
  alarm_.set(core_->next_deadline(), [this] { carry_out(core_->timer(now())); });
}

void dispatcher_process::take(const dispatcher_commands::value_type& what) {
  std::visit([this](const auto& x) { carry_out(x); }, what);
}

void dispatcher_process::carry_out(const dispatcher_command::store& what) {
  const auto kept = [this, writer = writer_, group = steps_.store()](const status&) {
    if (writer == writer_)
      steps_.kept(group, [this](const auto& x) { take(x); });
  };
  static_cast<void>(store_->append(writer_, what.facts, kept));
}

void dispatcher_process::carry_out(const dispatcher_command::answer& what) {
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
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>,
                                 answered<result<worker_registered>>>)
      reply(std::get<worker_registered>(what.what));
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<heartbeat_heard>>>)
      reply(std::get<heartbeat_heard>(what.what));
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<worker_drains>>>)
      reply(std::get<worker_drains>(what.what));
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<save_steps>>>)
      reply(std::get<save_steps>(what.what));
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, answered<result<save_view>>>)
      reply(std::get<save_view>(what.what));
  });
}

void dispatcher_process::carry_out(const dispatcher_command::to_job& what) {
  const auto at = waiting_.find(what.request);
  auto* j = find(what.job);
  if (at == waiting_.end() || j == nullptr || !j->core)
    return;
  carry_out(what.job, at->second.to_job(*j, what.request));
}

void dispatcher_process::carry_out(const dispatcher_command::run_job& what) {
  auto about = what.what;
  about.plan = world_.plan;
  auto& fresh = jobs_[about.id];
  fresh = std::make_shared<job>();
  fresh->store = store_of(about.id, about.past);
  fresh->alarm = std::make_unique<virtual_alarm>(*this);
  start_job(about.id, about);
}

void dispatcher_process::start_job(job_id id, const job_description& about) {
  auto& j = *find(id);
  j.readers.clear();
  auto [writer, record] = j.store->take_over();
  j.writer = writer;
  j.steps = {};
  j.core = std::make_unique<job_core>(about, std::move(record), core_->workers().alive(),
                                      time_.below(UINT64_MAX));
  carry_out(id, {job_command::store{}});
  carry_out(id, j.core->start(now()));
  carry_out(core_->job_started(id));
}

void dispatcher_process::carry_out(const dispatcher_command::drop_job& what) {
  jobs_.erase(what.id);
  disk_.write([this, id = what.id] { job_stores_.erase(id); });
}

void dispatcher_process::carry_out(const dispatcher_command::worker_changed& what) {
  if (auto* j = find(what.job); j != nullptr && j->core)
    carry_out(what.job, what.lost ? j->core->worker_lost(what.worker.id, now())
                                  : j->core->worker_came(what.worker, now()));
}

void dispatcher_process::carry_out(const dispatcher_command::keep_worker& what) {
  if (const auto at = waiting_.find(what.from); at != waiting_.end())
    worker_ends_[what.id] = at->second.from;
}

void dispatcher_process::carry_out(const dispatcher_command::drop_worker& what) {
  worker_ends_.erase(what.id);
}

void dispatcher_process::carry_out(const dispatcher_command::offer_saves& what) {
  if (auto* to = worker(what.to))
    world_.net.send(worker_ends_.at(what.to), [to] { to->saves_offered(); });
}

void dispatcher_process::carry_out(const dispatcher_command::stop_task& what) {
  world_.traffic.count_stop(what.task, what.reason);
  if (auto* to = worker(what.worker))
    world_.net.send(worker_ends_.at(what.worker),
                    [to, what] { to->stop_task(what.task, what.reason, [](const status&) {}); });
}

} // namespace headrace::detail::test
