#include "headrace/actors/job/iteration.hpp"

#include "headrace/actors/job/splits/shard_states.hpp"

#include <algorithm>
#include <iterator>

namespace headrace::detail {

std::string_view to_string(iteration::task_state state) noexcept {
  switch (state) {
  case iteration::task_state::starting: return "starting";
  case iteration::task_state::running: return "running";
  case iteration::task_state::ended: return "ended";
  case iteration::task_state::failed: return "failed";
  case iteration::task_state::lost: return "lost";
  case iteration::task_state::left: return "left";
  }
  return "unknown";
}

/// A decision that is being made: each fact is applied to a copy of the state, on which the next
/// step is decided.
class iteration::draft {
public:
  explicit draft(const iteration& from) : now(from) {}

  void add(fact what) {
    now.apply(what);
    out.facts.push_back(std::move(what));
  }
  void start_on(const worker_info& who) {
    task fresh{task_id{now.last_task_ + 1}, incarnation{1}, who};
    out.todo.start.push_back(fresh);
    add(task_is{std::move(fresh)});
  }
  void resume(task what, const worker_info& on) {
    what.state = task_state::starting;
    what.worker = on;
    out.todo.start.push_back(what);
    add(task_is{std::move(what)});
  }
  /// Begins work on a worker. Under OFF each incarnation of a worker gives one copy of the dataset,
  /// and under a static policy one shard, so the worker continues with the task that it had. Under
  /// DYNAMIC, and in coordinated reads, the worker gets a new task.
  void begin_on(const worker_info& who) {
    if (const auto* earlier = now.may_begin_on(who) ? now.resumable(who) : nullptr)
      resume(*earlier, who);
    else
      begin_anew_on(who);
  }
  void begin_anew_on(const worker_info& who) {
    if (now.may_begin_on(who) && (!is_static(now.mode_) || now.may_begin_shard(who)))
      start_on(who);
  }
  /// Begins work on those workers that have no task.
  void begin_on_others(const std::vector<worker_info>& alive) {
    if (!now.finished_)
      for (const auto& worker : alive)
        if (!now.serves(worker))
          begin_on(worker);
  }
  void move(task what, task_state to) {
    what.state = to;
    if (!what.alive())
      out.todo.forget.push_back(what.id);
    out.todo.announce = true;
    add(task_is{std::move(what)});
  }
  /// Stops the living tasks, and the lost tasks that workers keep in order to continue them.
  void stop_all() {
    for (const auto& [id, task] : now.tasks_)
      if (task.alive() || (task.state == task_state::lost && !now.gives_anew()))
        out.todo.stop.push_back(task);
  }
  /// Finishes the repetition if no work is left, or starts a task for splits that are left.
  void conclude(const job_remainder& rest) {
    if (is_static(now.mode_))
      return conclude_shards(rest);
    bool busy = false;
    bool ended = false;
    bool exhausted = now.mode_ == sharding_policy::off;
    uint64_t newest = 0; // the newest task when a task last left or had splits returned
    uint64_t gone = 0;   // the newest task that is lost or left
    for (const auto& [id, task] : now.tasks_) {
      busy |= task.alive() && now.counts(task);
      ended |= task.state == task_state::ended;
      exhausted |= task.state == task_state::ended && !task.by_itself;
      newest = std::max(newest, task.newest);
      if (task.state == task_state::lost || task.state == task_state::left)
        gone = id.value;
    }
    // If all tasks left or were lost, no task has read to the end: under OFF no task gave the whole
    // dataset, and under DYNAMIC splits are left, unless all were leased (`spent`). The repetition
    // is not finished then, because a new worker may still register.
    if (busy || (!ended && !rest.spent) || rest.unsettled || now.finished_)
      return;
    exhausted |= rest.spent;
    if (rest.splits && !ended_after(newest))
      return start_for_rest(rest, newest);
    // A task ends when its sources are exhausted, or when its pipeline needs no more of them. In
    // the latter case the tasks that are gone might have given more elements.
    if (!exhausted && gone != 0 && !ended_after(gone))
      return start_for_rest(rest, newest);
    if (rest.held)
      return;
    // Under OFF, tasks that no reader reads may still run.
    stop_all();
    add(finished_as{});
    out.todo.announce = true;
  }

private:
  /// Finishes the repetition when each wanted shard was read to its end. Shards whose worker is
  /// gone or never registered are waited for, too.
  void conclude_shards(const job_remainder& rest) {
    const auto busy =
      std::ranges::any_of(now.tasks_, [](const auto& x) { return x.second.alive(); });
    const auto states = states_of_shards(now.tasks_, now.shards_);
    const auto wanted = now.wanted_shards();
    if (busy || rest.held || now.finished_ || wanted.empty()
        || std::ranges::any_of(wanted, [&](auto i) { return states[i] != shard_state::done; }))
      return;
    add(finished_as{});
    out.todo.announce = true;
  }
  /// True if a task that began after `newest` has ended: it has read those of the returned splits
  /// that it needed.
  bool ended_after(uint64_t newest) const {
    return std::ranges::any_of(now.tasks_, [&](const auto& entry) {
      return entry.first.value > newest && entry.second.state == task_state::ended;
    });
  }
  /// Starts a task for the work that is left, on a worker that has a reader (or on any, if there
  /// are no readers), unless a task of that worker has left, or was lost and began after `newest`.
  /// If there is no such worker, the task is started when one registers.
  void start_for_rest(const job_remainder& rest, uint64_t newest) {
    for (const auto& worker : rest.alive)
      if ((now.consumers_.empty() || now.may_begin_on(worker))
          && std::ranges::none_of(now.tasks_, [&](const auto& entry) {
               const auto& t = entry.second;
               return t.runs_on(worker)
                      && (t.state == task_state::left
                          || (t.state == task_state::lost && t.id.value > newest));
             }))
        return start_on(worker);
  }

public:
  iteration now;
  decision out;
};

// -- decisions ----------------------------------------------------------------------

iteration::decision iteration::consumer_joined(consumer_id who,
                                               const std::vector<worker_info>& alive, uint64_t node,
                                               uint64_t place, uint32_t index) const {
  draft next{*this};
  if (!consumers_.contains(who)) {
    next.add(reader_joined{who, node, place, index});
    next.out.todo.announce = rounds_.consumers() != 0;
  }
  // Workers that registered while there was no reader have no task yet; the same is true of workers
  // from which no reader read.
  std::vector<worker_info> fresh;
  std::ranges::copy_if(alive, std::back_inserter(fresh), [this](const auto& worker) {
    return consumers_.empty() || !may_begin_on(worker);
  });
  next.begin_on_others(fresh);
  next.out.todo.eager = consumers_.empty();
  return std::move(next.out);
}

iteration::decision iteration::leave_unread(const job_remainder& rest) const {
  const auto unread = unread_tasks();
  if (unread.empty())
    return {};
  draft next{*this};
  for (auto id : unread) {
    const auto& task = tasks_.at(id);
    if (mode_ == sharding_policy::off && !gives_anew())
      continue; // the task's reader may come back
    next.out.todo.stop.push_back(task);
    next.move(task, is_static(mode_) ? task_state::left : task_state::lost);
  }
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::workers_present(const std::vector<worker_info>& alive) const {
  draft next{*this};
  if (!consumers_.empty())
    next.begin_on_others(alive);
  return std::move(next.out);
}

bool iteration::empty() const {
  return finished_ && failure_.ok() && std::ranges::all_of(tasks_, [](const auto& entry) {
           const auto& t = entry.second;
           return !t.alive() && t.state != task_state::lost && t.made.elements == 0;
         });
}

iteration::decision iteration::consumer_left(consumer_id who, const round_table::absence& from,
                                             uint64_t up_to) const {
  if (!consumers_.contains(who))
    return {};
  return {{reader_left{who, from, up_to}}, {.announce = rounds_.consumers() != 0}};
}

iteration::decision iteration::next_for_rounds(const std::map<consumer_id, uint64_t>& places,
                                               uint64_t furthest, bool left_behind) const {
  if (rounds_.consumers() == 0 || finished_)
    return {};
  round_table::tasks there;
  for (const auto& [id, t] : tasks_) {
    if (!consumers_.empty() && !has_reader(t.worker))
      continue;
    if (t.state == task_state::running)
      there.running.push_back(id);
    there.more_to_come |= t.state == task_state::starting;
  }
  const auto step = rounds_.next(there, places, furthest, left_behind);
  draft next{*this};
  next.out.todo.announce = true;
  if (const auto* x = std::get_if<round_table::proposed>(&step)) {
    next.add(*x);
  } else if (const auto* y = std::get_if<round_table::agreed>(&step)) {
    next.add(*y);
  } else if (std::holds_alternative<round_table::renew>(step)) {
    for (const auto& [id, t] : tasks_)
      if (t.alive()) {
        next.out.todo.stop.push_back(t);
        // Under DYNAMIC the elements that the task gave for later rounds are lost, and are counted.
        next.move(t, mode_ == sharding_policy::dynamic ? task_state::lost : task_state::left);
        next.start_on(t.worker);
      }
  } else {
    return {};
  }
  return std::move(next.out);
}

iteration::decision iteration::worker_joined(const worker_info& who) const {
  if (!opened_ || finished_)
    return {};
  draft next{*this};
  for (const auto& [id, t] : tasks_) {
    if (!t.runs_on(who))
      continue;
    // After a restart of the job, a worker that registers may have its task already.
    if (t.alive())
      return {};
    if (!gives_anew() && occupies(t, who))
      return {};
  }
  next.begin_on(who);
  return std::move(next.out);
}

iteration::decision iteration::worker_lost(worker_id who, const job_remainder& rest) const {
  draft next{*this};
  for (const auto& [id, t] : tasks_)
    if (t.worker.id == who && t.alive())
      next.move(t, task_state::lost);
  if (!next.out.facts.empty())
    next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::task_started(task_id id, const status& how,
                                            const job_remainder& rest) const {
  auto at = tasks_.find(id);
  if (at == tasks_.end() || !at->second.alive())
    return {};
  if (how.code() == status_code::aborted && at->second.ran && !finished_) {
    draft next{*this};
    next.move(at->second, task_state::lost);
    for (const auto& worker : rest.alive)
      if (at->second.runs_on(worker))
        next.begin_anew_on(worker);
    next.conclude(rest);
    return std::move(next.out);
  }
  if (at->second.state != task_state::starting)
    return {};
  // A worker that is about to leave starts no task and answers `unavailable`: the task is lost, and
  // the repetition continues. Other errors end the repetition. If a worker does not answer, the
  // order is repeated until the worker's lease expires.
  if (!how.ok() && how.code() != status_code::unavailable)
    return task_ended(id, at->second.life, {}, how, rest);
  draft next{*this};
  auto started = at->second;
  started.ran |= how.ok();
  next.move(std::move(started), how.ok() ? task_state::running : task_state::lost);
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::task_ended(task_id id, incarnation life, output made,
                                          const status& how, const job_remainder& rest,
                                          bool by_itself) const {
  auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.life != life || finished_)
    return {};
  // True if a lost task reports its end, because its worker came back and did not register yet. If
  // another task reads the shard again, or has read it, the lost task stays lost: so it is counted
  // among the losses, which include tasks whose elements are given twice.
  const bool away = at->second.state == task_state::lost && !gives_anew()
                    && (!is_static(mode_) || may_begin_shard(at->second.worker));
  if (!at->second.alive() && !away)
    return {};
  draft next{*this};
  auto ended = at->second;
  ended.made = made;
  ended.by_itself = by_itself;
  next.move(std::move(ended), how.ok() ? task_state::ended : task_state::failed);
  if (how.ok()) {
    next.conclude(rest);
  } else {
    next.stop_all();
    next.add(finished_as{how});
  }
  return std::move(next.out);
}

iteration::decision iteration::task_left(task_id id, incarnation life, output made,
                                         const job_remainder& rest) const {
  auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.life != life || finished_ || !at->second.alive())
    return {};
  draft next{*this};
  auto gone = at->second;
  gone.made = made;
  gone.newest = last_task_;
  next.move(std::move(gone), task_state::left);
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::task_lost(task_id id, incarnation life, output made,
                                         const job_remainder& rest) const {
  const auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.life != life || finished_ || !at->second.alive())
    return {};
  draft next{*this};
  auto gone = at->second;
  gone.made = made;
  next.move(std::move(gone), task_state::lost);
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::task_settled(task_id id, bool gave_back,
                                            const job_remainder& rest) const {
  const auto at = tasks_.find(id);
  if (at == tasks_.end() || finished_)
    return {};
  draft next{*this};
  auto gone = at->second;
  if (gave_back)
    gone.newest = last_task_;
  next.add(task_is{std::move(gone)});
  next.out.todo.announce = true;
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::concluded(const job_remainder& rest) const {
  draft next{*this};
  next.conclude(rest);
  return std::move(next.out);
}

iteration::decision iteration::cancel(const status& how) const {
  draft next{*this};
  next.stop_all();
  if (!finished_)
    next.add(finished_as{how});
  return std::move(next.out);
}

// -- facts --------------------------------------------------------------------------

void iteration::apply(const fact& what) {
  struct {
    iteration& to;
    void operator()(const reader_joined& x) {
      to.consumers_.insert(x.who);
      if (x.node != 0)
        to.nodes_[x.who] = x.node;
      if (x.place != 0)
        to.places_[x.who] = x.place;
      if (to.rounds_.consumers() != 0)
        to.rounds_.take_seat(x.who, x.index);
      to.opened_ = true;
      ++to.version_;
    }
    void operator()(const reader_left& x) {
      to.consumers_.erase(x.who);
      to.nodes_.erase(x.who);
      to.places_.erase(x.who);
      to.rounds_.leave_seat(x.who, x.from, x.up_to);
      ++to.version_;
    }
    void operator()(const round_table::proposed& x) {
      to.rounds_.apply(x);
      ++to.version_;
    }
    void operator()(const round_table::agreed& x) {
      to.rounds_.apply(x);
      ++to.version_;
    }
    void operator()(const task_is& x) {
      to.tasks_.insert_or_assign(x.now.id, x.now);
      to.last_task_ = std::max(to.last_task_, x.now.id.value);
      ++to.version_;
    }
    void operator()(const finished_as& x) {
      to.finished_ = true;
      to.failure_ = x.how;
      ++to.version_;
    }
  } carry_out{*this};
  std::visit(carry_out, what);
}

} // namespace headrace::detail
