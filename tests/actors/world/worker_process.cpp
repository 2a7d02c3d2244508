#include "tests/actors/world/worker_process.hpp"

#include "headrace/actors/cache/window_output.hpp"
#include "headrace/actors/rounds/rounds_output.hpp"
#include "tests/actors/world/world.hpp"

namespace headrace::detail::test {

worker_process::worker_process(world& in, std::string name, options what)
  : virtual_process(in.time, std::move(name)),
    world_(in),
    options_(std::move(what)),
    first_(in.trainers.empty()) {}

void worker_process::on_started() {
  leaving_ = false;
  ++starts_;
  windows_ = window_store::make(options_.cache_bytes);
  core_ = std::make_unique<worker_core>(
    worker_core_options{.self = {.life = incarnation{time_.below(UINT64_MAX) + 1},
                                 .data_address = options_.address,
                                 .place = options_.place},
                        .dispatcher = "dispatcher:1",
                        .drain = options_.drain});
  dispatcher_ = std::make_unique<control_peer>(
    world_.net, *this, world_.dispatcher,
    [this](connection_end at) { world_.dispatcher.accepted(at); },
    control_peer::events{
      .up = [this] { carry_out(core_->dispatcher_up(now())); },
      .down = [this](const status& why) { carry_out(core_->dispatcher_down(why, now())); },
      .failed = [this](const status& why) { carry_out(core_->dispatcher_unreached(why)); }});
}

void worker_process::on_killed() {
  core_.reset();
  dispatcher_.reset();
  tasks_.clear();
  orders_.clear();
  routes_.clear();
  by_channel_.clear();
  windows_.reset();
  saves_.clear();
}

/// Executes `what` after the time that a message inside a process takes.
void worker_process::after_hop(std::function<void()> what) {
  after(duration{500}, std::move(what));
}

worker_process::task* worker_process::find(task_id id) {
  const auto at = tasks_.find(id);
  return at != tasks_.end() ? at->second.get() : nullptr;
}

void worker_process::leave() {
  if (!std::exchange(leaving_, true))
    carry_out(core_->leave(false, now()));
}

void worker_process::crash_a_task() {
  for (auto& [id, t] : tasks_) {
    if (!t->acting || t->core.over())
      continue;
    t->acting = false;
    t->runner.reset();
    carry_out(core_->task_down(id, aborted("crashed"), false, {}));
    after(time_.between(duration{1000}, std::chrono::milliseconds{50}), [this, id = id] {
      auto* again = find(id);
      if (again == nullptr || again->core.over())
        return;
      again->acting = true;
      core_->task_running(id);
      carry_out(id, again->core.taken_over(now()));
    });
    return;
  }
}

void worker_process::crash_a_runner() {
  for (auto& [id, t] : tasks_)
    if (t->acting && t->runner && !t->runner->ended()) {
      t->runner.reset();
      carry_out(id, t->core.runner_crashed(aborted("crashed"), now()));
      if (!t->core.over())
        begin_run(id);
      return;
    }
}

// -- orders ---------------------------------------------------------------------------------

void worker_process::start_task(const task_order& what, answered reply) {
  orders_[++last_order_] = std::move(reply);
  carry_out(core_->start_task(request_token{last_order_}, what, now()));
}

void worker_process::name_readers(const task_readers& who, answered reply) {
  orders_[++last_order_] = std::move(reply);
  carry_out(core_->name_readers(request_token{last_order_}, who));
}

void worker_process::stop_task(task_id id, const std::string& reason, answered reply) {
  orders_[++last_order_] = std::move(reply);
  carry_out(core_->stop_task(request_token{last_order_}, id, reason));
}

// -- links ----------------------------------------------------------------------------------

void worker_process::accepted_link(const connection_end& at) {
  at.over->ends[at.side].on_closed = [this, over = at.over.get()](const status&) {
    std::vector<produce::stream_key> cut;
    for (const auto& [key, where] : routes_)
      if (where.over.over.get() == over)
        cut.push_back(key);
    for (auto key : cut) {
      const auto where = routes_.at(key);
      routes_.erase(key);
      by_channel_.erase({over, where.channel});
      if (auto* t = find(where.task); t != nullptr && t->acting)
        carry_out(where.task, t->core.stream_cut(key, now()));
    }
  };
}

void worker_process::stream_arrived(const connection_end& at, uint32_t channel,
                                    from_consumer what) {
  const std::pair where{at.over.get(), channel};
  if (auto* first = std::get_if<stream_open>(&what))
    first->node = static_cast<trainer_process*>(at.over->ends[0].who)->what().reads.node;
  auto known = by_channel_.find(where);
  if (known == by_channel_.end()) {
    const auto* first = std::get_if<stream_open>(&what);
    if (first == nullptr)
      return;
    if (auto* t = find(first->task); t == nullptr || !t->acting)
      return fail_stream(at, channel, not_found("this worker has no such task (any more)"));
    const produce::stream_key fresh{++last_key_};
    routes_[fresh] = {at, channel, first->task};
    known = by_channel_.emplace(where, fresh).first;
  }
  const auto key = known->second;
  const auto id = routes_.at(key).task;
  if (auto* t = find(id); t != nullptr && t->acting)
    carry_out(id, t->core.arrived(key, what, now()));
}

void worker_process::send(const connection_end& at, uint32_t channel, const from_task& what) {
  auto* to = static_cast<trainer_process*>(at.over->ends[0].who);
  if (const auto* rows = std::get_if<stream_block>(&what))
    world_.sent(rows->rows, *to);
  world_.net.send(at, [this, to, over = at.over, channel, what] {
    if (const auto* rows = std::get_if<stream_block>(&what))
      world_.reached(rows->rows);
    to->arrived(over, channel, what);
  });
}

void worker_process::fail_stream(const connection_end& at, uint32_t channel, const status& why) {
  send(at, channel, stream_failed{why});
}

// -- commands of the worker's core ------------------------------------------------------------

void worker_process::carry_out(const worker::commands& what) {
  for (const auto& one : what) {
    if (!alive())
      return;
    std::visit([this](const auto& x) { carry_out(x); }, one);
  }
  if (core_)
    alarm_.set(core_->next_deadline(), [this] { carry_out(core_->timer(now())); });
}

void worker_process::carry_out(const worker::answer& what) {
  if (auto reply = orders_.extract(what.to.value))
    reply.mapped()(what.how);
}

void worker_process::carry_out(const worker::register_here& what) {
  auto& d = world_.dispatcher;
  const auto over = dispatcher_->get();
  request(
    over, what.limit,
    [this, &d, what, at = connection_end{over.over, 1}](replier reply) {
      d.register_worker(what.who, at, [this, what, reply](const result<worker_registered>& answer) {
        reply(
          [this, what, answer] { carry_out(core_->registered(what.connection, answer, now())); });
      });
    },
    [this, over = what.connection] {
      carry_out(core_->registered(over, deadline_exceeded("no answer"), now()));
    });
}

void worker_process::carry_out(const worker::heartbeat& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), what.limit,
    [this, &d, what](replier reply) {
      d.worker_heartbeat(what, [this, what, reply](const result<heartbeat_heard>& answer) {
        reply([this, what, answer] {
          carry_out(core_->heartbeat_answered(what.connection, answer, now()));
        });
      });
    },
    [this, over = what.connection] {
      carry_out(core_->heartbeat_answered(over, deadline_exceeded("no answer"), now()));
    });
}

void worker_process::carry_out(const worker::ask_splits& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), what.limit,
    [this, &d, what](replier reply) {
      d.lease(what.what, [this, what, reply](const result<lease_answer>& answer) {
        reply(
          [this, what, answer] { carry_out(core_->splits_answered(what.task, what.ask, answer)); });
      });
    },
    [this, what] {
      carry_out(core_->splits_unanswered(what.task, what.ask, deadline_exceeded("no answer")));
    });
}

void worker_process::carry_out(const worker::say_end& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), what.limit,
    [this, &d, what](replier reply) {
      d.task_ended(what.what, [this, what, reply](const status& answer) {
        reply([this, what, answer] { carry_out(core_->end_acknowledged(what.what.id, answer)); });
      });
    },
    [this, what] {
      carry_out(core_->end_unanswered(what.what.id, deadline_exceeded("no answer")));
    });
}

void worker_process::carry_out(const worker::say_goodbye& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), what.limit,
    [this, &d, what](replier reply) {
      d.worker_leaves(what.id, what.life, what.unfinished);
      reply([this] { carry_out(core_->goodbye_over()); });
    },
    [this] { carry_out(core_->goodbye_over()); });
}

void worker_process::carry_out(const worker::renew_dispatcher& what) {
  dispatcher_->renew(what.why);
}

void worker_process::carry_out(const worker::run_task& what) {
  std::unique_ptr<dealer> output;
  if (what.what.num_consumers != 0)
    output = std::make_unique<rounds_output>(what.what.num_consumers);
  else if (what.what.cache)
    output = std::make_unique<window_output>(
      windows_, window_output::options{.terms = *what.what.cache, .lease = what.what.lease});
  auto fresh = std::make_shared<task>(
    task{task_core{what.what, world_.graph, {}, logger{}, std::move(output)}, {}});
  fresh->acting = true;
  fresh->alarm = std::make_unique<virtual_alarm>(*this);
  const auto id = what.what.id;
  tasks_[id] = std::move(fresh);
  carry_out(id, find(id)->core.taken_over(now()));
  core_->task_running(id);
  carry_out(core_->task_taken(id, {}));
}

void worker_process::carry_out(const worker::stop_task& what) {
  after_hop([this, what] {
    if (auto* t = find(what.task); t != nullptr && t->acting)
      carry_out(what.task, t->core.stop(what.reason));
  });
}

void worker_process::carry_out(const worker::name_readers& what) {
  after_hop([this, what] {
    if (auto* t = find(what.who.task); t != nullptr) {
      if (t->acting)
        carry_out(what.who.task, t->core.readers_named(what.who, now()));
      else
        t->core.readers_named_between_actors(what.who);
    }
  });
}

void worker_process::carry_out(const worker::drop_task& what) { tasks_.erase(what.task); }

void worker_process::carry_out(const worker::give_splits& what) {
  after_hop([this, what] {
    if (auto* t = find(what.task); t != nullptr && t->acting)
      carry_out(what.task, t->core.splits_answered(what.question, what.what, now()));
  });
}

void worker_process::carry_out(const worker::tell_leaving& what) {
  after_hop([this, what] {
    if (auto* t = find(what.task); t != nullptr) {
      if (t->acting)
        carry_out(what.task, t->core.worker_leaves(now()));
      else
        t->core.leaves_between_actors();
    }
  });
}

void worker_process::carry_out(const worker::close_streams& what) {
  // Elements that the task did not give within its time to drain are lost with the task.
  world_.lost_tasks.emplace(what.task, now());
}

void worker_process::carry_out(const worker::fail_streams& what) {
  if (auto* t = find(what.task))
    for (const auto& last : t->core.give_up(what.why)) carry_out(*t, std::get<produce::send>(last));
}

void worker_process::carry_out(const worker::left&) {
  after_hop([this] {
    kill();
    world_.net.changed(*this);
  });
}

// -- commands of a task's core ----------------------------------------------------------------

void worker_process::carry_out(task_id id, const produce::commands& what) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end())
    return;
  const auto t = at->second; // keeps the task, which a command may remove from `tasks_`
  for (const auto& one : what) std::visit([&](const auto& x) { carry_out(*t, x); }, one);
  t->alarm->set(t->core.next_deadline(), [this, id] {
    if (auto* still = find(id); still != nullptr && still->acting)
      carry_out(id, still->core.timer(now()));
  });
}

void worker_process::carry_out(task&, const produce::send& what) {
  if (const auto at = routes_.find(what.over); at != routes_.end())
    send(at->second.over, at->second.channel, what.what);
}

void worker_process::carry_out(task&, const produce::close_link& what) {
  if (const auto at = routes_.find(what.over); at != routes_.end())
    world_.net.close(at->second.over, what.why);
}

void worker_process::carry_out(task& of, const produce::start_runner&) {
  begin_run(of.core.order().id);
}

void worker_process::begin_run(task_id id) {
  auto* t = find(id);
  if (t == nullptr)
    return;
  const auto number = ++t->runs;
  auto start = t->core.runner_begins(number);
  if (!start)
    return;
  const auto& order = t->core.order();
  const bool dynamic = order.policy == sharding_policy::dynamic;
  t->runner = std::make_unique<simulated_runner>(
    world_.data, number, dynamic, std::move(start->replay), start->leaving, start->skip_rows,
    world_.plan, dynamic && order.num_consumers == 0 ? 0 : world::copy_of(id) << 32,
    is_static(order.policy) ? world_shard{order.shards, order.shard} : world_shard{});
  run(id, number);
}

void worker_process::run(task_id id, uint64_t number) {
  after(time_.between(duration{1000}, 2 * options_.per_block + duration{2000}), [this, id, number] {
    auto* t = find(id);
    if (t == nullptr || !t->acting || !t->runner || t->runner->run() != number)
      return;
    auto made = t->runner->step(time_.between(1, options_.most_rows));
    if (auto* rows = std::get_if<block>(&made)) {
      // Both values are read before the rows are passed to the core, because its commands may end
      // the runner.
      const auto given = t->runner->given();
      const auto done = t->runner->done();
      carry_out(id, t->core.produced(number, std::move(*rows), now()));
      if (t->core.order().guarantee == delivery_guarantee::at_least_once && time_.one_in(3))
        t->core.run_done({number, given, {done}});
    } else if (auto* question = std::get_if<split_question>(&made))
      carry_out(id, t->core.splits_wanted({number,
                                           {.which = *question,
                                            .total = world_.plan.sources[0].splits
                                                       ? std::nullopt
                                                       : std::optional{world_.data.splits}}},
                                          now()));
    else if (std::holds_alternative<simulated_runner::over>(made))
      return carry_out(id, t->core.run_ended(number, {}, !t->runner->exhausted(), now()));
    run(id, number);
  });
}

void worker_process::carry_out(task& of, const produce::give_splits& what) {
  if (of.runner)
    of.runner->give(what.which, what.what);
}

void worker_process::carry_out(task& of, const produce::take_over_bytes& what) {
  if (of.runner)
    of.runner->taken(what.bytes);
}

void worker_process::carry_out(task& of, const produce::leave_runner&) {
  carry_out(
    of.core.order().id,
    of.core.runner_left(of.runner ? of.runner->leave() : std::vector<unread_splits>{}, now()));
}

void worker_process::carry_out(task&, const produce::report& what) {
  const auto& x = what.what;
  worker::task_news news{.id = x.id,
                         .life = x.life,
                         .job = x.job,
                         .counts = {{x.numbers.elements, x.numbers.bytes, x.numbers.ignored},
                                    x.numbers.streams,
                                    x.numbers.restarts},
                         .ended = x.ended,
                         .outcome = x.outcome,
                         .unread = x.unread,
                         .by_itself = x.by_itself,
                         .held = x.held};
  if (x.wants)
    news.wants = x.wants->wish;
  after_hop([this, news] { carry_out(core_->task_reported(news, now())); });
}

void worker_process::carry_out(task& of, const produce::end&) {
  of.acting = false;
  after_hop([this, id = of.core.order().id] {
    if (find(id) != nullptr)
      carry_out(core_->task_down(id, {}, false, {}));
  });
}

} // namespace headrace::detail::test
