#include "headrace/actors/task/task_actor.hpp"

#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/task/runner_actor.hpp"
#include "headrace/pipeline/graph/rerun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {

namespace {

/// How often a task that is busy tells its worker how far it is.
constexpr auto report_interval = std::chrono::milliseconds{200};
/// How long a trainer waits for production before others' rows are recalled for it.
constexpr auto patience = std::chrono::milliseconds{5};

} // namespace

task_state::task_state(port::self_pointer<handle_type> self, task_definition about,
                       std::shared_ptr<task_memory> memory, worker_options options,
                       worker_handle parent, tree_place place, logger log)
  : self_(self),
    about_(std::move(about)),
    options_(std::move(options)),
    parent_(std::move(parent)),
    log_(log.with({{"task", about_.id}})),
    memory_(std::move(memory)),
    watcher_(self),
    team_(self, watcher_,
          {.path = place.path,
           .max_restarts = options_.restarts.max_restarts,
           .within = options_.restarts.within,
           .seed = about_.id.value},
          {.started = {},
           .ended =
             [this](const std::string&, const status& why) {
               if (why.ok())
                 return;
               log_.warn("runner crashed", {{"why", why}, {"produced", memory_->numbers.elements}});
               run_ = 0; // what it may still be heard saying is made again
               if (auto how = can_run_on(why); !how)
                 fail(how);
             },
           .gave_up = [this](const status& why) { fail(why); },
           .dropped = {}},
          place.board) {}

port::behavior<task_handle> task_state::make_behavior() {
  team_.stop_before_owner();
  take_over();
  return {
    [this](const local<task_event>& what) {
      if (!ended_)
        std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch != armed_ || ended_)
        return;
      std::vector<consumer_id> gone;
      for (const auto& [who, route] : memory_->routes)
        if (route.gone_at && *route.gone_at <= now())
          gone.push_back(who);
      for (auto who : gone) leave(who);
      arm();
      deal();
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

void task_state::take_over() {
  for (auto& [who, route] : memory_->routes) {
    if (route.over)
      send_failure(*route.over, route.channel,
                   not_found(fmt::format("task {} was started again: open the stream again",
                                         about_.id.value)));
    route.over.reset();
    route.gone_at = now() + options_.consumer_lease;
    memory_->change([&, who = who] { memory_->output.cut(who); });
  }
  arm();
  if (memory_->opened)
    start_runner();
}

void task_state::on(const worker_leaves&) {
  memory_->leaving = true;
  const bool dynamic = about_.leases_splits && memory_->opened;
  std::vector<unread_splits> unread;
  if (dynamic && runner_)
    unread = runner_->leave();
  memory_->change([&] {
    if (memory_->replayable)
      for (const auto& x : unread) memory_->splits.cut(x);
    memory_->output.leaving();
  });
  asked_.clear();
  port::tell(parent_, make_local<task_report>(task_report{.id = about_.id,
                                                          .life = about_.life,
                                                          .job = about_.job,
                                                          .numbers = memory_->told(),
                                                          .unread = std::move(unread)}));
  // Under OFF a copy ends with its worker.
  if (!dynamic)
    return end();
  for (const auto& [who, route] : memory_->routes)
    if (route.over)
      send_on(*route.over, route.channel, [](schema::StreamMessage::Builder b) { b.setLeaving(); });
  deal();
}

void task_state::end() {
  ended_ = true;
  report({}, status{});
  self_->quit();
}

// -- the runner -------------------------------------------------------------------

status task_state::can_run_on(const status& why) const {
  if (!memory_->replayable)
    return why.with_context(
      fmt::format("a runner crashed after more than {} leases of splits, which cannot be replayed",
                  options_.most_splits));
  const broken_run broken{.gave_rows = memory_->numbers.elements != 0,
                          .shares = about_.leases_splits};
  if (auto how = can_run_again(*about_.graph, broken); !how)
    return why.with_context(how.message());
  return {};
}

void task_state::start_runner() {
  if (memory_->exhausted)
    return;
  // Another runner may have been at work, for an actor before this one.
  if (std::exchange(memory_->opened, true))
    if (auto how = can_run_on(aborted("the task's actor crashed")); !how)
      return fail(how);
  if (auto how = team_.add({.id = "runner", .restart = restart_policy::transient},
                           [this](uint64_t number) { return run(number); });
      !how)
    fail(how);
}

result<caf::actor> task_state::run(uint64_t number) {
  if (ended_)
    return cancelled("the task is over");
  run_ = number;
  asked_.clear();
  taken_from_runner_ = 0;
  runner_ = std::make_shared<runner>(runner::options{
    .graph = about_.graph,
    .seed = about_.seed,
    .repetition = about_.repetition,
    .leases_splits = about_.leases_splits,
    .replay = memory_->splits,
    .leaving = memory_->leaving,
    .skip_rows = memory_->numbers.elements,
    .find_function = options_.find_function,
    .open_distribute = options_.open_distribute,
    .threads = options_.threads,
    .ignored = memory_->ignored,
  });
  memory_->numbers.restarts += number > 1;
  const auto me = task_handle{self_};
  const auto tell = [me](task_event what) {
    port::tell(me, make_local<task_event>(std::move(what)));
  };
  runner::callbacks hear{
    .produced =
      [tell, number](block rows) {
        tell(rows_produced{number, std::move(rows)});
      },
    .wants_splits =
      [tell, number](splits_wish wish) {
        tell(splits_wanted{number, std::move(wish)});
      },
    .ended =
      [tell, number](status how) {
        tell(run_ended{number, std::move(how)});
      },
    .crashed = {},
  };
  return caf::actor_cast<caf::actor>(
    port::spawn<runner_state>(self_->system(), runner_, std::move(hear)));
}

void task_state::on(const rows_produced& what) {
  if (what.run != run_)
    return;
  const auto bytes = what.rows.bytes();
  memory_->change([&] {
    memory_->output.produced(what.rows);
    memory_->numbers.elements += what.rows.rows;
    memory_->numbers.bytes += bytes;
  });
  taken_from_runner_ += bytes;
  deal();
}

void task_state::on(const run_ended& what) {
  if (what.run != run_)
    return;
  if (!what.how.ok())
    return fail(what.how);
  memory_->exhausted = true;
  memory_->by_itself = !runner_->exhausted();
  memory_->output.exhausted();
  deal();
}

void task_state::on(const splits_wanted& what) {
  if (what.run != run_)
    return;
  // An answer to an earlier runner may have come after this one had begun.
  const auto& which = what.wish.which;
  if (const auto* known = memory_->splits.find(which))
    return runner_->give_splits(which, *known);
  asked_.insert(which);
  report(what);
}

void task_state::on(const splits_answered& what) {
  // Its answer goes back as it came.
  if (memory_->leaving)
    return;
  if (what.what && memory_->replayable)
    memory_->change([&] {
      memory_->splits.add(what.which, *what.what);
      if (memory_->splits.size() <= options_.most_splits)
        return;
      memory_->splits = {};
      memory_->replayable = false;
    });
  if (asked_.erase(what.which) != 0)
    runner_->give_splits(what.which, what.what);
}

void task_state::fail(const status& why) {
  if (ended_)
    return;
  ended_ = true;
  log_.error("task failed", {{"why", why}});
  for (const auto& [who, route] : memory_->routes)
    if (route.over)
      send_failure(*route.over, route.channel, why);
  report({}, why);
  self_->quit();
}

void task_state::deal() {
  auto& output = memory_->output;
  const bool dry = dry_at_ && *dry_at_ <= now();
  for (const auto& action : memory_->change([&] { return output.deal(dry); }))
    std::visit([this](const auto& what) { send(what); }, action);
  if (ended_)
    return;
  if (dry || !output.could_recall())
    dry_at_.reset();
  if (!dry_at_ && output.could_recall()) {
    dry_at_ = now() + patience;
    arm();
  }
  // The runner may go on by as much as was dealt.
  if (runner_) {
    const auto pending = output.pending_bytes();
    if (taken_from_runner_ > pending) {
      runner_->taken(taken_from_runner_ - pending);
      taken_from_runner_ = pending;
    }
  }
  if (output.finished() || (memory_->leaving && output.delivered()))
    return end();
  if (now() >= reported_ + report_interval)
    return report();
  // There may be nothing to deal for long.
  if (!std::exchange(report_due_, true))
    arm();
}

void task_state::report(std::optional<splits_wanted> wants, std::optional<status> ended) {
  reported_ = now();
  report_due_ = false;
  port::tell(parent_, make_local<task_report>(task_report{.id = about_.id,
                                                          .life = about_.life,
                                                          .job = about_.job,
                                                          .numbers = memory_->told(),
                                                          .wants = std::move(wants),
                                                          .ended = std::move(ended),
                                                          .by_itself = memory_->by_itself}));
}

void task_state::arm() {
  std::optional<time_point> next;
  for (const auto& [who, route] : memory_->routes)
    if (route.gone_at)
      next = next ? std::min(*next, *route.gone_at) : route.gone_at;
  if (dry_at_ && *dry_at_ > now())
    next = next ? std::min(*next, *dry_at_) : dry_at_;
  if (const auto due = reported_ + report_interval; report_due_ && due > now())
    next = next ? std::min(*next, due) : due;
  if (next)
    port::remind(self_, std::max(*next - now(), duration{0}), atom::deadline_v, ++armed_);
}

} // namespace headrace
