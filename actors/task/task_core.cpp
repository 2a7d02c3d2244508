#include "headrace/actors/task/task_core.hpp"

#include "headrace/actors/stream/task_output.hpp"
#include "headrace/actors/task/split_dealer.hpp"
#include "headrace/pipeline/graph/rerun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace headrace::detail {

// This file has the events of the runner and of splits; task_core_streams.cpp has the others.

task_core::task_core(task_order order, dataset_ptr graph, task_limits limits, logger log,
                     std::unique_ptr<dealer> output)
  : order_(std::move(order)),
    graph_(std::move(graph)),
    limits_(limits),
    log_(log.with({{"task", order_.id}})),
    output_(output ? std::move(output)
                   : std::make_unique<task_output>(
                     order_.shared, order_.shared && leases_splits(),
                     order_.shared && order_.guarantee == delivery_guarantee::at_most_once)),
    readers_(order_.readers) {}

task_numbers task_core::numbers() const {
  auto out = numbers_;
  out.ignored = ignored_->load();
  out.window = output_->report();
  return out;
}

produce::commands task_core::taken_over(time_point now) {
  return event([&] {
    runs_ = false;
    run_ = 0;
    dry_at_.reset();
    const stream_failed anew{not_found(
      fmt::format("task {} was started again: open the stream again", to_string(order_.id)))};
    for (const auto& [over, who] : strangers_) then(produce::send{over, anew});
    if (over_) {
      strangers_.clear();
      return void(std::ranges::copy(last_, std::back_inserter(todo_)));
    }
    for (auto& [who, route] : routes_) {
      if (route.over)
        then(produce::send{route.over, anew});
      if (route.over)
        route.cut_at = now;
      route.over = {};
      output_->cut(who);
    }
    owners_.clear();
    let_depart();
    strangers_.clear();
    account_due_ |= account_said_; // the acknowledgement may have come while no actor ran
    account(now);
    if (std::exchange(leave_due_, false))
      left(unread_without_runner(), now);
    else if (leaving_)
      report_unread(); // the crash may have come before the report was sent
    // An eager task leases its first splits while the readers connect. Except under DYNAMIC there
    // is nothing to lease.
    if (over_)
      return;
    if (opened_ || (leases_splits() && order_.eager))
      start_runner(now);
  });
}

// -- the runner ---------------------------------------------------------------------------

status task_core::can_run_on(const status& why) const {
  if (!replayable_)
    return why.with_context(
      fmt::format("a runner crashed after more than {} leases of splits, which cannot be replayed",
                  limits_.most_splits));
  const broken_run broken{.gave_rows = numbers_.elements != 0, .shares = leases_splits()};
  if (auto how = can_run_again(*graph_, broken); !how)
    return why.with_context(how.message());
  return {};
}

void task_core::start_runner(time_point now) {
  if (exhausted_)
    return;
  // This may be a further runner, after a crash of the actor.
  if (std::exchange(opened_, true))
    if (auto how = can_run_on(aborted("the task's actor crashed")); !how)
      return fail(how, now);
  then(produce::start_runner{});
}

result<task_core::runner_start> task_core::runner_begins(uint64_t run) {
  if (over_)
    return cancelled("the task is over");
  run_ = run;
  runs_ = true;
  asked_.clear();
  taken_from_runner_ = 0;
  numbers_.restarts += run > 1;
  return runner_start{splits_, leaving_, numbers_.elements};
}

produce::commands task_core::runner_crashed(const status& why, time_point now) {
  return event([&] {
    log_.warn("runner crashed", {{"why", why}, {"produced", numbers_.elements}});
    run_ = 0; // later reports of this runner are ignored, because the next runner repeats them
    if (auto how = can_run_on(why); !how)
      fail(how, now);
  });
}

produce::commands task_core::runner_spent(const status& why, time_point now) {
  return event([&] { fail(why, now); });
}

produce::commands task_core::produced(uint64_t run, block rows, time_point now) {
  if (run != run_ || over_)
    return {};
  return event([&] {
    const auto bytes = rows.bytes();
    numbers_.elements += rows.rows;
    numbers_.bytes += bytes;
    taken_from_runner_ += bytes;
    output_->produced(std::move(rows));
    deal(now);
  });
}

void task_core::run_done(const detail::run_done& what) {
  if (what.run == run_ && !over_)
    done_.add(what.rows, what.splits);
}

produce::commands task_core::run_ended(uint64_t run, const status& how, bool by_itself,
                                       time_point now) {
  if (run != run_ || over_)
    return {};
  return event([&] {
    if (!how.ok())
      return fail(how, now);
    if (auto may = output_->may_end(); !may && !leaving_)
      return fail(may, now);
    exhausted_ = true;
    whole_ = !leaving_;
    by_itself_ = by_itself;
    output_->exhausted();
    deal(now);
  });
}

// -- splits -------------------------------------------------------------------------------

produce::commands task_core::splits_wanted(const detail::splits_wanted& what, time_point now) {
  if (what.run != run_ || over_)
    return {};
  return event([&] {
    const auto& which = what.wish.which;
    if (what.wish.closes) {
      closed_.insert(which);
      return report(now, what);
    }
    // The answer to a question of an earlier runner may have arrived after this runner was started.
    if (const auto* known = splits_.find(which))
      return then(produce::give_splits{which, lease_answer{*known}});
    asked_.insert(which);
    auto wish = what;
    if (!done_.empty())
      wish.wish.done = done_.through(output_->handed_out_below());
    report(now, std::move(wish));
  });
}

produce::commands task_core::splits_answered(const split_question& which,
                                             const result<lease_answer>& what, time_point now) {
  if (which.source == account_source) {
    // The job has counted the elements that were lost with readers, so the task may end.
    if (std::exchange(account_said_, false) && !over_)
      return event([&] { deal(now); });
    return {};
  }
  // If the task leaves, the splits of this answer go back to the job.
  if (leaving_ || over_)
    return {};
  return event([&] {
    // An answer that acknowledges a closed pass is not logged, because a replay closes the pass
    // again.
    if (closed_.erase(which) != 0)
      return then(produce::give_splits{which, what});
    if (what && replayable_) {
      what->for_each(which,
                     [this](const auto& asked, const auto& given) { splits_.add(asked, given); });
      if (splits_.size() > limits_.most_splits) {
        splits_ = {};
        replayable_ = false;
      }
    }
    if (asked_.erase(which) != 0)
      then(produce::give_splits{which, what});
  });
}

// -- the end --------------------------------------------------------------------------------

produce::commands task_core::worker_leaves(time_point now) {
  if (over_)
    return {};
  if (leases_splits() && opened_ && runs_) {
    leave_due_ = !leaving_;
    return {produce::leave_runner{}};
  }
  return runner_left(unread_without_runner(), now);
}

std::vector<unread_splits> task_core::unread_without_runner() const {
  if (!leases_splits() || !opened_)
    return {};
  // An answer to a question of an earlier runner may still arrive. The result covers it, too: the
  // splits in all answers that `splits_` does not have yet count as unread.
  return split_dealer{plan_splits(graph_), splits_, false}.leave();
}

produce::commands task_core::runner_left(std::vector<unread_splits> unread, time_point now) {
  return event([&] { left(std::move(unread), now); });
}

void task_core::left(std::vector<unread_splits> unread, time_point now) {
  leaving_ = true;
  leave_due_ = false;
  if (replayable_)
    for (const auto& x : unread) splits_.cut(x);
  output_->leaving();
  asked_.clear();
  unread_ = std::move(unread);
  report_unread();
  // Except under DYNAMIC, a task that leaves produces nothing more: its copy or shard of the
  // dataset ends here, unless all of it was produced.
  // In coordinated reads all consumers leave the task between two rounds, and do not wait for the
  // later rounds that the task has produced.
  if (!opened_ || order_.num_consumers != 0 || (!leases_splits() && !exhausted_))
    return finish(now);
  for (const auto& [who, route] : routes_)
    if (route.over)
      then(produce::send{route.over, stream_leaving{}});
  deal(now);
}

void task_core::report_unread() {
  then(produce::report{{.id = order_.id,
                        .life = order_.life,
                        .job = order_.job,
                        .numbers = numbers(),
                        .unread = unread_}});
}

void task_core::keep_last() {
  const auto outlives = [](const produce::command& x) {
    return std::holds_alternative<produce::send>(x) || std::holds_alternative<produce::report>(x)
           || std::holds_alternative<produce::end>(x);
  };
  std::ranges::copy_if(todo_, std::back_inserter(last_), outlives);
}

void task_core::finish(time_point now) {
  over_ = true;
  // Under OFF a copy of the dataset ends with its worker, so the job is sent no list of the readers
  // that hold rows of it.
  auto held = order_.shared && order_.policy != sharding_policy::off
                ? output_->held()
                : std::map<consumer_id, reader_marks>{};
  // Elements that were lost with readers are added, unless the job has acknowledged an account with
  // them.
  if (order_.shared && (account_said_ || account_due_ || !leases_splits() || splits_.size() == 0))
    held.merge(output_->lost());
  // Rows that readers hold may be lost with the readers, so only the job can decide when the
  // repetition is finished: if there are such rows, the streams end with `left`.
  const auto said = held.empty() ? outcome() : task_outcome::left;
  for (const auto& x : output_->remaining_ends())
    then(produce::send{routes_.at(x.to).over, stream_end{x.elements, said}});
  report(now, {}, status{}, outcome(), std::move(held));
  then(produce::end{});
}

produce::commands task_core::stop(const std::string& reason) {
  if (over_)
    return {};
  return event([&] {
    over_ = true;
    log_.debug("task stopped", {{"why", reason}});
    for (const auto& x : output_->remaining_ends())
      then(produce::send{routes_.at(x.to).over, stream_end{x.elements, task_outcome::stopped}});
    then(produce::end{});
  });
}

void task_core::fail(const status& why, time_point now) {
  if (over_)
    return;
  over_ = true;
  log_.error("task failed", {{"why", why}});
  for (const auto& [who, route] : routes_)
    if (route.over)
      then(produce::send{route.over, stream_failed{why}});
  report(now, {}, why, task_outcome::failed);
  then(produce::end{});
}

produce::commands task_core::give_up(const status& why) {
  over_ = true;
  commands out;
  for (const auto& [who, route] : routes_)
    if (route.over)
      out.emplace_back(produce::send{route.over, stream_failed{why}});
  return out;
}

void task_core::report(time_point now, std::optional<detail::splits_wanted> wants,
                       std::optional<status> ended, task_outcome outcome,
                       std::map<consumer_id, reader_marks> held) {
  reported_ = now;
  report_due_ = false;
  then(produce::report{{.id = order_.id,
                        .life = order_.life,
                        .job = order_.job,
                        .numbers = numbers(),
                        .wants = std::move(wants),
                        .ended = std::move(ended),
                        .outcome = outcome,
                        .by_itself = by_itself_,
                        .held = std::move(held)}});
}

} // namespace headrace::detail
