#include "headrace/actors/worker/worker_core.hpp"

#include <fmt/format.h>

#include <utility>

namespace headrace::detail {

// This file starts, runs and ends tasks, and takes the steps of leaving.

// -- orders --------------------------------------------------------------------------------

worker_core::commands worker_core::start_task(request_token from, const task_order& what,
                                              time_point now) {
  commands out;
  if (auto* known = find(what.id); known != nullptr && !(known->stops && what.resumes)) {
    // The job may have been restarted, and may have lost the task's questions.
    ask_all(*known, out);
    // The job may have recorded the task as lost, and may continue it with other readers.
    name(*known, what.readers, out);
    out.emplace_back(worker::answer{from, {}});
    return out;
  }
  if (unheard_ends_.contains(what.id)) {
    say_end(what.id, out);
    out.emplace_back(worker::answer{from, {}});
    return out;
  }
  // The worker has stopped the task: if it began again, it would give its elements again.
  if (what.resumes)
    return {worker::answer{
      from, aborted(fmt::format("this worker has task {:x} no more", what.id.value))}};
  if (step_ != step::staying)
    return {worker::answer{from, unavailable("this worker is about to end")}};
  if (refuses_tasks())
    return {worker::answer{
      from, unavailable("this worker takes no more tasks").with_context(why_stuck().message())}};
  auto& fresh = tasks_[what.id];
  fresh.order = what;
  fresh.ordered_by = from;
  fresh.rate.add(now, 0);
  return {worker::run_task{what, from}};
}

worker_core::commands worker_core::task_taken(task_id id, const status& how) {
  auto* task = find(id);
  if (task == nullptr || !task->ordered_by)
    return {};
  const auto from = *std::exchange(task->ordered_by, {});
  if (!how) {
    tasks_.erase(id);
    return {worker::answer{from, how}};
  }
  return {log_line{log_level::info,
                   "task started",
                   {{"task", to_string(id)}, {"job", to_string(task->order.job)}}},
          worker::answer{from, {}}};
}

void worker_core::task_running(task_id id) {
  if (auto* task = find(id))
    task->running = true;
}

worker_core::commands worker_core::stop_task(request_token from, task_id id,
                                             const std::string& reason) {
  commands out;
  stop(id, reason, out);
  out.emplace_back(worker::answer{from, {}});
  return out;
}

void worker_core::stop(task_id id, const std::string& reason, commands& out) {
  auto* task = find(id);
  if (task == nullptr)
    return;
  out.emplace_back(
    log_line{log_level::debug, "task stopped", {{"task", to_string(id)}, {"why", reason}}});
  // No actor handles the messages of a task that is not running, so the core ends such a task
  // itself.
  if (task->running) {
    task->stops = reason;
    return out.emplace_back(worker::stop_task{id, reason}), void();
  }
  tasks_.erase(id);
  out.emplace_back(worker::fail_streams{id, not_found("the task was stopped: " + reason)});
  out.emplace_back(worker::drop_task{id});
  look_if_left(out);
}

worker_core::commands worker_core::name_readers(request_token from, const task_readers& who) {
  auto* task = find(who.task);
  if (task == nullptr)
    return {worker::answer{from, not_found("this worker has no task " + to_string(who.task))}};
  commands out;
  name(*task, who, out);
  out.emplace_back(worker::answer{from, {}});
  return out;
}

void worker_core::name(task& of, const task_readers& who, commands& out) {
  if (!of.readers || of.readers->version <= who.version)
    of.readers = who;
  out.emplace_back(worker::name_readers{who});
}

// -- tasks ---------------------------------------------------------------------------------

worker_core::commands worker_core::task_reported(const worker::task_news& what, time_point) {
  commands out;
  if (auto* task = find(what.id)) {
    task->counts = what.counts;
    if (what.unread)
      task->unread = what.unread;
    if (what.wants) {
      const auto [at, fresh] = task->asked.try_emplace(what.wants->which);
      // The report of a closed pass has the key of a question that an earlier runner may have sent.
      const bool other = at->second.what.closes != what.wants->closes;
      at->second.what = *what.wants;
      if (fresh || other)
        ask(*task, at->second, out);
    }
  }
  if (what.ended)
    ended(what, out);
  return out;
}

void worker_core::ended(const worker::task_news& what, commands& out) {
  task_end end{.id = what.id,
               .life = what.life,
               .job = what.job,
               .made = what.counts.made,
               .outcome = what.ended->ok() ? what.outcome : task_outcome::failed,
               .failure = *what.ended,
               .unread = {},
               .by_itself = what.by_itself,
               .closed = {},
               .held = what.held};
  if (const auto* task = find(what.id)) {
    if (end.outcome == task_outcome::left && task->unread)
      end.unread = *task->unread;
    for (const auto& [which, question] : task->asked)
      if (question.what.closes)
        end.closed.push_back(*question.what.closes);
  }
  unheard_ends_[what.id] = std::move(end);
  say_end(what.id, out);
}

worker_core::commands worker_core::task_down(task_id id, const status& why, bool torn,
                                             const worker::task_counts& made) {
  auto* task = find(id);
  if (task == nullptr)
    return {};
  task->running = false;
  commands out;
  if (why.ok()) {
    tasks_.erase(id);
    out.emplace_back(worker::drop_task{id});
    look_if_left(out);
    return out;
  }
  out.emplace_back(
    log_line{log_level::error, "task crashed", {{"task", to_string(id)}, {"why", to_string(why)}}});
  if (torn)
    give_up(id,
            why.with_context(fmt::format("task {:x} broke off in the midst of a change", id.value)),
            made, out);
  else if (const auto reason = task->stops)
    stop(id, *reason, out);
  else
    repeat_orders(*task, out);
  return out;
}

void worker_core::repeat_orders(const task& of, commands& out) const {
  if (of.readers)
    out.emplace_back(worker::name_readers{*of.readers});
  if (step_ == step::draining)
    out.emplace_back(worker::tell_leaving{of.order.id});
}

worker_core::commands worker_core::task_given_up(task_id id, const status& why,
                                                 const worker::task_counts& made) {
  commands out;
  give_up(id, why, made, out);
  return out;
}

void worker_core::give_up(task_id id, const status& why, const worker::task_counts& made,
                          commands& out) {
  const auto* task = find(id);
  if (task == nullptr)
    return;
  const auto& order = task->order;
  out.emplace_back(worker::fail_streams{id, why});
  out.emplace_back(worker::drop_task{id});
  ended({.id = id,
         .life = order.life,
         .job = order.job,
         .counts = made,
         .wants = {},
         .ended = why,
         .unread = {}},
        out);
  tasks_.erase(id);
}

// -- leaving -------------------------------------------------------------------------------

worker_core::commands worker_core::leave(bool at_once, time_point now) {
  commands out;
  const bool again = std::exchange(asked_, true);
  // A repeated call has an effect only if it ends the drain at once: a worker that has sent its
  // goodbye waits only for a short time in any case.
  if (again && (!at_once || step_ != step::draining))
    return out;
  if (at_once || step_ == step::gone)
    go(out);
  else
    begin_to_leave(now, out);
  return out;
}

void worker_core::begin_to_leave(time_point now, commands& out) {
  if (step_ != step::staying)
    return;
  // Streams work without a dispatcher, too. A connection may be made again before the drain is
  // over, and the ends of tasks are sent then.
  step_ = step::draining;
  drain_at_ = now + drain_;
  if (!tasks_.empty())
    out.emplace_back(log_line{log_level::info, "leaving", {{"tasks", uint64_t{tasks_.size()}}}});
  for (const auto& [id, task] : tasks_) out.emplace_back(worker::tell_leaving{id});
  for (auto id : saves_.leave()) out.emplace_back(worker::stop_save{id});
  ask_for_saves(out);
  look_if_left(out);
}

void worker_core::look_if_left(commands& out) {
  if (step_ == step::draining && tasks_.empty() && unheard_ends_.empty())
    say_goodbye(out);
}

void worker_core::drain_over(commands& out) {
  // Rows that the tasks have not sent by now are lost with this worker: the job gets receipts from
  // the readers, and other tasks read the remaining splits.
  for (const auto& [id, task] : tasks_) {
    out.emplace_back(
      log_line{log_level::warn,
               "what a task had begun is lost: it did not reach its consumers in time",
               {{"task", to_string(id)},
                {"after", fmt::format("{} ms", drain_ / std::chrono::milliseconds{1})}}});
    out.emplace_back(worker::close_streams{id});
  }
  say_goodbye(out, tasks_.size());
}

void worker_core::say_goodbye(commands& out, size_t unfinished) {
  if (!up_)
    return go(out);
  step_ = step::saying_goodbye;
  beat_at_.reset();
  // The time within which the dispatcher has to answer.
  constexpr auto limit = std::chrono::milliseconds{200};
  out.emplace_back(
    worker::say_goodbye{self_.id, self_.life, limit, static_cast<uint32_t>(unfinished)});
}

worker_core::commands worker_core::goodbye_over() {
  commands out;
  if (step_ == step::saying_goodbye)
    go(out);
  return out;
}

void worker_core::go(commands& out) {
  step_ = step::gone;
  beat_at_.reset();
  out.emplace_back(worker::left{.ordered = !asked_});
}

} // namespace headrace::detail
