#include "headrace/actors/worker/worker_core.hpp"

#include "headrace/runtime/base/duration_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

worker_core::worker_core(worker_core_options options)
  : self_(std::move(options.self)),
    dispatcher_(std::move(options.dispatcher)),
    drain_(options.drain),
    most_stuck_(options.most_stuck),
    heartbeat_(options.heartbeat),
    dispatcher_timeout_(options.dispatcher_timeout) {}

// -- the dispatcher ------------------------------------------------------------------------

worker_core::commands worker_core::started(time_point now) {
  unheard_since_ = now;
  return {};
}

worker_core::commands worker_core::dispatcher_up(time_point) {
  up_ = true;
  unreached_ = {};
  ++connection_;
  if (has_said_goodbye())
    return {};
  worker_registration who{self_, {}};
  who.info.draining = step_ != step::staying;
  for (const auto& [id, task] : tasks_) who.tasks.push_back({id, task.order.job});
  return {worker::register_here{connection_, std::move(who), timing_.lease}};
}

worker_core::commands worker_core::dispatcher_down(const status& why, time_point now) {
  up_ = false;
  if (!unheard_since_)
    unheard_since_ = now;
  // No warning: when a service ends, its dispatcher may end before the workers that have left.
  if (step_ == step::gone)
    return {};
  // No warning: the connection was dropped in order to register again, after a logged refusal.
  if (!refused_.ok() && why == refused_)
    return {};
  return {log_line{log_level::warn, "dispatcher lost", {{"why", to_string(why)}}}};
}

worker_core::commands worker_core::dispatcher_unreached(const status& why) {
  if (std::exchange(unreached_, why) == why)
    return {};
  commands out{log_line{log_level::warn, "dispatcher not reached", {{"why", to_string(why)}}}};
  if (why.code() == status_code::failed_precondition)
    out.emplace_back(worker::report_other_version{why});
  return out;
}

worker_core::commands worker_core::registered(uint64_t over, const result<worker_registered>& what,
                                              time_point now) {
  if (over != connection_ || has_said_goodbye())
    return {};
  if (const auto code = what.status().code();
      code != status_code::unavailable && code != status_code::deadline_exceeded)
    unheard_since_.reset();
  else
    unreached_ = what.status();
  if (!what) {
    commands out;
    // Another worker has the address or the list entry of this worker, or the list has no entry for
    // this worker. In each case the jobs have given up its tasks.
    if (const auto code = what.status().code();
        code == status_code::already_exists || code == status_code::permission_denied) {
      if (std::exchange(refused_, what.status()) != what.status()) {
        out.emplace_back(log_line{
          log_level::warn, "refused by the dispatcher", {{"why", to_string(what.status())}}});
        if (code == status_code::permission_denied)
          out.emplace_back(worker::report_not_listed{what.status()});
      }
      const auto running = tasks_;
      for (const auto& [id, task] : running)
        stop(id, "the dispatcher refuses this worker: " + what.status().message(), out);
    }
    out.emplace_back(worker::renew_dispatcher{what.status()});
    return out;
  }
  refused_ = {};
  registered_over_ = connection_;
  self_.id = what->id;
  timing_ = what->timing;
  first_beat_ = true;
  commands out{log_line{
    log_level::info, "registered", {{"worker", to_string(self_.id)}, {"dispatcher", dispatcher_}}}};
  if (heartbeat_) {
    timing_.heartbeat = std::min(*heartbeat_, timing_.lease / 2);
    if (timing_.heartbeat < *heartbeat_)
      out.emplace_back(log_line{log_level::warn,
                                "heartbeats are more frequent than asked for: the dispatcher's "
                                "lease needs two",
                                {{"asked", milliseconds_text(*heartbeat_)},
                                 {"every", milliseconds_text(timing_.heartbeat)},
                                 {"lease", milliseconds_text(timing_.lease)}}});
  }
  beat_at_ = now + timing_.heartbeat;
  // Messages over the earlier connection may have been lost.
  for (auto& [id, task] : tasks_) ask_all(task, out);
  for (const auto& [id, said] : unheard_ends_) say_end(id, out);
  saves_.registered();
  ask_for_saves(out);
  if (what->leave)
    begin_to_leave(now, out);
  return out;
}

worker_core::commands worker_core::heartbeat_answered(uint64_t over,
                                                      const result<heartbeat_heard>& what,
                                                      time_point now) {
  if (over != connection_ || has_said_goodbye())
    return {};
  // The dispatcher did not answer in time, or has no record of this worker, because the dispatcher
  // is a new one or the worker's lease expired.
  if (!what)
    return {worker::renew_dispatcher{what.status()}};
  commands out;
  for (auto id : what->unwanted) stop(id, "its job is over", out);
  saves_.again();
  if (what->saves)
    saves_.offered();
  ask_for_saves(out);
  if (what->leave)
    begin_to_leave(now, out);
  return out;
}

// -- splits and ends -----------------------------------------------------------------------

worker_core::task* worker_core::find(task_id id) noexcept {
  const auto at = tasks_.find(id);
  return at != tasks_.end() ? &at->second : nullptr;
}

worker_core::question* worker_core::waiting(task_id id, uint64_t ask) noexcept {
  auto* task = find(id);
  if (task == nullptr)
    return nullptr;
  for (auto& [which, question] : task->asked)
    if (question.ask == ask)
      return &question;
  return nullptr;
}

void worker_core::ask(task& of, question& what, commands& out) {
  what.ask = 0; // answers to earlier requests are ignored
  if (!up_)
    return; // the question is sent when there is a connection again
  what.ask = ++of.asks;
  what.again = false;
  const auto& order = of.order;
  out.emplace_back(worker::ask_splits{order.id,
                                      what.ask,
                                      {order.id, order.life, order.job, what.what},
                                      // The job may leave the question unanswered for long. The
                                      // question is repeated, because the job may have lost it.
                                      timing_.lease});
}

void worker_core::ask_all(task& of, commands& out) {
  for (auto& [which, question] : of.asked) ask(of, question, out);
}

worker_core::commands worker_core::splits_answered(task_id id, uint64_t ask,
                                                   const result<lease_answer>& what) {
  if (!what && what.status().code() == status_code::unavailable) {
    lost_ask(id, ask);
    return {};
  }
  const auto* question = waiting(id, ask);
  if (question == nullptr)
    return {};
  const auto which = question->what.which;
  auto& task = tasks_.at(id);
  task.asked.erase(which);
  // A task without an actor will repeat the question, and get the same answer.
  if (!task.running)
    return {};
  return {worker::give_splits{id, which, what}};
}

worker_core::commands worker_core::splits_unanswered(task_id id, uint64_t number,
                                                     const status& why) {
  commands out;
  if (why.code() != status_code::deadline_exceeded)
    lost_ask(id, number);
  else if (auto* question = waiting(id, number))
    ask(tasks_.at(id), *question, out);
  return out;
}

void worker_core::lost_ask(task_id id, uint64_t ask) noexcept {
  // The job or the dispatcher has ended. The question is repeated when the restarted job orders the
  // task again, or with the next heartbeat.
  if (auto* question = waiting(id, ask))
    question->again = true;
}

void worker_core::say_end(task_id id, commands& out) const {
  const auto at = unheard_ends_.find(id);
  if (up_ && at != unheard_ends_.end())
    out.emplace_back(worker::say_end{at->second, timing_.lease});
}

worker_core::commands worker_core::end_acknowledged(task_id id, const status& how) {
  commands out;
  if (how.code() == status_code::unavailable)
    return out; // the message is repeated with the next heartbeat
  unheard_ends_.erase(id);
  look_if_left(out);
  return out;
}

worker_core::commands worker_core::end_unanswered(task_id id, const status& why) {
  // With another code, the job or the dispatcher has ended, which has a log line of its own.
  if (why.code() != status_code::deadline_exceeded)
    return {};
  return {log_line{log_level::warn,
                   "the end of a task was not acknowledged",
                   {{"task", to_string(id)}, {"why", to_string(why)}}}};
}

// -- saves ---------------------------------------------------------------------------------

void worker_core::ask_for_saves(commands& out) {
  // A question before the registration would be sent again after it, and answers would be mixed up.
  if (!up_ || registered_over_ != connection_ || has_said_goodbye())
    return;
  if (auto what = saves_.question())
    out.emplace_back(
      worker::ask_save_steps{connection_, self_.id, self_.life, *std::move(what), timing_.lease});
}

worker_core::commands worker_core::saves_offered() {
  commands out;
  saves_.offered();
  ask_for_saves(out);
  return out;
}

worker_core::commands worker_core::save_steps_answered(uint64_t over,
                                                       const result<save_steps>& what) {
  commands out;
  if (over != connection_)
    return out; // messages that were sent over another connection are repeated
  const auto next = saves_.answered(what);
  for (auto id : next.stop) out.emplace_back(worker::stop_save{id});
  for (const auto& order : next.begin) out.emplace_back(worker::run_save{order});
  ask_for_saves(out);
  return out;
}

worker_core::commands worker_core::save_step_ended(save_report how) {
  commands out;
  saves_.ended(std::move(how));
  ask_for_saves(out);
  return out;
}

// -- time ----------------------------------------------------------------------------------

std::optional<time_point> worker_core::patience_over() const {
  if (!unheard_since_ || !dispatcher_timeout_ || gave_up_ || step_ != step::staying)
    return {};
  return *unheard_since_ + *dispatcher_timeout_;
}

std::optional<time_point> worker_core::next_deadline() const {
  auto out = beat_at_;
  const auto at_most = [&out](std::optional<time_point> at) {
    if (at && (!out || *at < *out))
      out = at;
  };
  at_most(patience_over());
  if (step_ == step::draining)
    at_most(drain_at_);
  return out;
}

void worker_core::give_up_dispatcher(commands& out) {
  gave_up_ = true;
  const auto why = deadline_exceeded(
    fmt::format("the dispatcher at {} did not answer for {:g} s (dispatcher timeout){}",
                dispatcher_, in_seconds(*dispatcher_timeout_),
                unreached_.ok() ? std::string{} : ": " + unreached_.message()));
  out.emplace_back(log_line{log_level::error, "dispatcher given up", {{"why", to_string(why)}}});
  out.emplace_back(worker::report_no_dispatcher{why});
}

worker_core::commands worker_core::timer(time_point now) {
  commands out;
  if (step_ == step::draining && drain_at_ <= now)
    drain_over(out);
  if (const auto at = patience_over(); at && *at <= now)
    give_up_dispatcher(out);
  if (beat_at_ && *beat_at_ <= now)
    beat(now, out);
  return out;
}

void worker_core::beat(time_point now, commands& out) {
  for (const auto& [id, said] : unheard_ends_) say_end(id, out);
  for (auto& [id, task] : tasks_)
    for (auto& [which, question] : task.asked)
      if (question.again)
        ask(task, question, out);
  out.emplace_back(worker::count_stuck{timing_.lease});
  beat_at_.reset();
  if (!up_)
    return; // heartbeats begin again after the next registration
  worker::heartbeat say{connection_,
                        self_.id,
                        self_.life,
                        {},
                        std::exchange(first_beat_, false),
                        timing_.lease,
                        step_ != step::staying};
  for (auto& [id, task] : tasks_) {
    task.rate.add(now, task.counts.made.elements);
    say.tasks.push_back({id, task.order.job, task.counts, task.rate.per_second()});
  }
  out.emplace_back(std::move(say));
  beat_at_ = now + timing_.heartbeat;
}

bool worker_core::refuses_tasks() const noexcept {
  return most_stuck_ != 0 && stuck_ != 0 && stuck_ + 1 >= most_stuck_;
}

status worker_core::why_stuck() const {
  return resource_exhausted(fmt::format(
    "threads that were told to stop hang in foreign code, such as a file system or library that "
    "does not return: {}; the worker bears fewer than {}, and takes no task with one fewer",
    stuck_, most_stuck_));
}

worker_core::commands worker_core::stuck_counted(size_t stuck) {
  stuck_ = stuck;
  // Running tasks may finish, unless too many threads are stuck. A worker that has no tasks and can
  // accept none is useless.
  const bool ends = most_stuck_ != 0 && stuck >= most_stuck_;
  if (!ends && !(refuses_tasks() && tasks_.empty()))
    return {};
  if (std::exchange(told_stuck_, true))
    return {};
  const auto why = why_stuck();
  return {log_line{log_level::error, "threads are stuck", {{"why", to_string(why)}}},
          worker::report_stuck{why}};
}

} // namespace headrace::detail
