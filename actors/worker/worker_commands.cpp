#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/actors/protocol/large_graph.hpp"
#include "headrace/actors/worker/heartbeat_codec.hpp"
#include "headrace/actors/worker/task_name.hpp"
#include "headrace/actors/worker/worker_actor.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/runtime/supervision/codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::detail {

// This file carries out the commands of the worker's core.

namespace {

bool same_bytes(const buffer& a, const buffer& b) {
  return std::ranges::equal(a.as<std::byte>(), b.as<std::byte>());
}

/// The status in the answer; or the failure, if there was no answer.
status outcome_of(const result<envelope>& in) { return in ? status_of(*in) : in.status(); }
result<schema::DispatcherMessage::Reader> answer_of(const result<envelope>& in,
                                                    schema::DispatcherMessage::Which due) {
  if (!in)
    return in.status();
  return dispatcher_answer(*in, due);
}

} // namespace

void worker_state::carry_out(worker::commands what) {
  for (auto& x : what) pending_.push_back(std::move(x));
  // Carrying out a command may cause events; the commands that follow from these are appended.
  if (busy_)
    return;
  busy_ = true;
  while (!pending_.empty()) {
    const auto next = std::move(pending_.front());
    pending_.pop_front();
    std::visit([this](const auto& x) { carry_out(x); }, next);
  }
  busy_ = false;
  alarm_.set(self_, atom::deadline_v, core_.next_deadline());
}

void worker_state::carry_out(const log_line& x) { write(log_, x); }

void worker_state::carry_out(const worker::answer& x) {
  auto from = requests_.extract(x.to);
  if (from.empty())
    return;
  auto& [what, answer] = from.mapped();
  const auto id = what->getRequestId();
  answer.deliver(x.how ? make_ok(id) : make_failure(x.how, id));
}

// -- to the dispatcher ---------------------------------------------------------------------

template <class Fill>
void worker_state::say(duration limit, Fill&& fill, answered heard) {
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return heard(unavailable("the dispatcher is away"));
  const auto what =
    make_envelope(0, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
  port::request(self_, *to, limit, what)
    .then([heard](const envelope& in) { heard(in); },
          [heard](const caf::error& why) { heard(to_status(why)); });
}

void worker_state::carry_out(const worker::register_here& x) {
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) {
      write_registration(b.initRegisterWorker(), x.who);
    },
    [this, over = x.connection](const result<envelope>& in) {
      const auto said = answer_of(in, schema::DispatcherMessage::WORKER_REGISTERED);
      if (!said)
        return carry_out(core_.registered(over, said.status(), now()));
      carry_out(core_.registered(over, read_registered(said->getWorkerRegistered()), now()));
    });
}

void worker_state::carry_out(const worker::heartbeat& x) {
  auto what = x;
  // The number of ignored elements grows even while a task sends no report, so it is read here.
  for (auto& task : what.tasks)
    if (const auto at = tasks_.find(task.id); at != tasks_.end())
      task.counts.made.ignored = at->second.kept->ignored();
  count_.tasks.set(static_cast<double>(what.tasks.size()));
  const auto tree =
    encode({fmt::format("worker {:x}, process {}", x.id.value, ::getpid()), options_.past,
            place_.board ? place_.board->roots() : std::vector<supervisor_snapshot>{}})
      .bytes();
  process_report process{options_.metrics->read_counted(), {}, {}};
  for (const auto& task : what.tasks)
    if (const auto at = tasks_.find(task.id); at != tasks_.end())
      process.operators[task.id] = at->second.kept->operators(now());
  if (x.first || !same_bytes(tree, told_tree_))
    process.tree = told_tree_ = tree;
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) {
      write_heartbeat(b.initWorkerHeartbeat(), what, process);
    },
    [this, over = x.connection, sent = now()](const result<envelope>& in) {
      if (auto how = outcome_of(in); !how)
        return carry_out(core_.heartbeat_answered(over, how, now()));
      count_.heartbeat_answer.observe(in_seconds(now() - sent));
      heartbeat_heard heard;
      if ((*in)->isDispatcher() && (*in)->getDispatcher().isHeartbeatHeard()) {
        const auto said = (*in)->getDispatcher().getHeartbeatHeard();
        for (auto id : said.getUnwanted()) heard.unwanted.emplace_back(id);
        heard.leave = said.getLeave();
        heard.saves = said.getSaves();
      }
      carry_out(core_.heartbeat_answered(over, heard, now()));
    });
}

void worker_state::carry_out(const worker::ask_splits& x) {
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) {
      write_splits_request(b.initLeaseSplits(), x.what);
    },
    [this, id = x.task, ask = x.ask,
     says = x.what.wish.closes || x.what.wish.given](const result<envelope>& in) {
      if (!in)
        return carry_out(core_.splits_unanswered(id, ask, in.status()));
      if (auto how = status_of(*in); !how)
        return carry_out(core_.splits_answered(id, ask, how));
      if (says)
        return carry_out(core_.splits_answered(id, ask, lease_answer{}));
      const auto said = dispatcher_answer(*in, schema::DispatcherMessage::SPLITS_LEASED);
      if (!said)
        return carry_out(core_.splits_answered(id, ask, said.status()));
      carry_out(core_.splits_answered(id, ask, read_splits_answer(said->getSplitsLeased())));
    });
}

void worker_state::carry_out(const worker::say_end& x) {
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) { write_task_end(b.initTaskEnded(), x.what); },
    [this, id = x.what.id](const result<envelope>& in) {
      carry_out(in ? core_.end_acknowledged(id, status_of(*in))
                   : core_.end_unanswered(id, in.status()));
    });
}

void worker_state::carry_out(const worker::say_goodbye& x) {
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) {
      auto out = b.initLeaveService();
      out.setWorkerId(x.id.value);
      out.setIncarnation(x.life.value);
      out.setUnfinished(x.unfinished);
    },
    [this](const result<envelope>&) { carry_out(core_.goodbye_over()); });
}

void worker_state::carry_out(const worker::renew_dispatcher& x) { dispatcher_.renew(x.why); }

// -- tasks ---------------------------------------------------------------------------------

void worker_state::carry_out(const worker::run_task& x) {
  const auto from = requests_.find(x.order);
  if (from == requests_.end())
    return;
  const auto how = host(x.what, from->second.what->getWorker().getStartTask());
  carry_out(core_.task_taken(x.what.id, how));
}

status worker_state::host(const task_order& what, schema::StartTask::Reader wanted) {
  const auto id = what.id;
  auto graph = graph_of(wanted);
  if (!graph)
    return graph.status().with_context(fmt::format("task {}", id.value));
  tasks_[id] = {host_(what, *std::move(graph)), {}};
  auto how = team_.add({.id = child_of(id),
                        .restart = restart_policy::transient,
                        .own_budget = options_.tasks.restarts},
                       [this, id](uint64_t) { return run(id); });
  if (!how)
    tasks_.erase(id);
  return how;
}

result<dataset_ptr> worker_state::graph_of(schema::StartTask::Reader wanted) {
  const auto print = chars_of(wanted.getFingerprint());
  const auto bytes = wanted.getGraph();
  if (bytes.size() == 0) {
    if (auto known = graphs_.find(print))
      return known;
    return not_found("this worker does not have the graph");
  }
  HEADRACE_ASSIGN(auto graph, decode_graph(bytes_of(bytes)));
  if (bytes.size() >= large_graph && !print.empty())
    graphs_.keep(std::string{print}, graph, bytes.size());
  return graph;
}

result<caf::actor> worker_state::run(task_id id) {
  auto& task = tasks_.at(id);
  task.actor =
    task.kept->run(self_->system(), worker_handle{self_}, place_.below(child_of(id)), log_);
  router_->add(id, task.actor);
  core_.task_running(id);
  return caf::actor_cast<caf::actor>(task.actor);
}

void worker_state::carry_out(const worker::stop_task& x) {
  if (const auto at = tasks_.find(x.task); at != tasks_.end() && at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(task_stops{x.reason}));
}

void worker_state::carry_out(const worker::name_readers& x) {
  const auto at = tasks_.find(x.who.task);
  if (at == tasks_.end())
    return;
  if (at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(readers_named{x.who}));
  else
    at->second.kept->name_readers(x.who);
}

void worker_state::carry_out(const worker::drop_task& x) {
  team_.remove(child_of(x.task));
  router_->remove(x.task);
  if (const auto at = tasks_.find(x.task); at != tasks_.end() && !at->second.actor)
    tasks_.erase(at);
}

void worker_state::carry_out(const worker::give_splits& x) {
  if (const auto at = tasks_.find(x.task); at != tasks_.end() && at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(splits_answered{x.question, x.what}));
}

void worker_state::carry_out(const worker::tell_leaving& x) {
  const auto at = tasks_.find(x.task);
  if (at == tasks_.end())
    return;
  if (at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(worker_leaves{}));
  else
    at->second.kept->leave();
}

void worker_state::carry_out(const worker::fail_streams& x) {
  if (const auto at = tasks_.find(x.task); at != tasks_.end())
    at->second.kept->fail_streams(x.why);
}

void worker_state::carry_out(const worker::close_streams& x) { router_->remove(x.task); }

// -- saves ---------------------------------------------------------------------------------

void worker_state::carry_out(const worker::ask_save_steps& x) {
  say(
    x.limit,
    [&](schema::DispatcherMessage::Builder b) {
      write_save_question(b.initAskSaveSteps(), x.id, x.life, x.what);
    },
    [this, over = x.connection](const result<envelope>& in) {
      const auto said = answer_of(in, schema::DispatcherMessage::SAVE_STEPS);
      if (!said)
        return carry_out(core_.save_steps_answered(over, said.status()));
      carry_out(core_.save_steps_answered(over, read_save_steps(said->getSaveSteps())));
    });
}

void worker_state::carry_out(const worker::run_save& x) {
  saves_[x.what.what.id] = {x.what.number, nullptr};
  if (!needs_graph(x.what.step))
    return run_save(x.what, dataset_ptr{});
  if (auto known = graphs_.find(x.what.what.fingerprint))
    return run_save(x.what, known);
  say(
    std::chrono::minutes{1},
    [&](schema::DispatcherMessage::Builder b) { b.setGetDataset(text_of(x.what.what.dataset_id)); },
    [this, order = x.what](const result<envelope>& in) {
      const auto said = answer_of(in, schema::DispatcherMessage::DATASET_DEF);
      if (!said)
        return run_save(order, said.status());
      const auto bytes = said->getDatasetDef().getGraph();
      auto graph = decode_graph(bytes_of(bytes));
      // The graph is kept, so that further steps of the save need not request it.
      if (graph)
        graphs_.keep(order.what.fingerprint, *graph, bytes.size());
      run_save(order, graph);
    });
}

void worker_state::run_save(const save_order& what, const result<dataset_ptr>& graph) {
  const auto at = saves_.find(what.what.id);
  if (at == saves_.end() || at->second.first != what.number)
    return; // the step was stopped in the meantime
  const auto hear = [me = worker_handle{self_}](save_report how) {
    port::tell(me, make_local<save_report>(std::move(how)));
  };
  if (!graph) {
    // If there was no answer, another worker or a later attempt may succeed.
    const auto& why = graph.status();
    const bool unheard =
      why.code() == status_code::unavailable || why.code() == status_code::deadline_exceeded;
    return hear(unheard ? save_report{what.what.id, what.number, step_given_back{}}
                        : save_report{what.what.id, what.number, why});
  }
  at->second.second =
    std::make_unique<save_runner>(what, *graph, options_.tasks, options_.most_save_file_bytes);
  at->second.second->start(hear);
}

void worker_state::carry_out(const worker::stop_save& x) { saves_.erase(x.id); }

// -- commands for the worker's process -----------------------------------------------------

void worker_state::carry_out(const worker::count_stuck& x) {
  const auto stuck = options_.tasks.threads->stuck(now(), x.patience);
  count_.stuck_threads.set(static_cast<double>(stuck));
  carry_out(core_.stuck_counted(stuck));
}

void worker_state::carry_out(const worker::report_stuck& x) {
  if (options_.on_stuck)
    options_.on_stuck(x.why);
}

void worker_state::carry_out(const worker::report_other_version& x) {
  if (options_.on_other_version)
    options_.on_other_version(x.why);
}

void worker_state::carry_out(const worker::report_no_dispatcher& x) {
  if (options_.on_dispatcher_timeout)
    options_.on_dispatcher_timeout(x.why);
}

void worker_state::carry_out(const worker::report_not_listed& x) {
  if (options_.on_not_listed)
    options_.on_not_listed(x.why);
}

void worker_state::carry_out(const worker::left& x) {
  if (auto stop = std::exchange(stop_tasks_, {}))
    stop();
  else if (x.ordered && options_.on_left)
    options_.on_left();
}

} // namespace headrace::detail
