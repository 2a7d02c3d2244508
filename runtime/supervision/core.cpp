#include "headrace/runtime/supervision/core.hpp"

#include "headrace/runtime/base/duration_text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

std::string_view to_string(supervision_strategy x) noexcept {
  switch (x) {
  case supervision_strategy::one_for_one: return "one_for_one";
  case supervision_strategy::one_for_all: return "one_for_all";
  default: return "rest_for_one";
  }
}

std::string_view to_string(restart_policy x) noexcept {
  switch (x) {
  case restart_policy::permanent: return "permanent";
  case restart_policy::transient: return "transient";
  default: return "temporary";
  }
}

std::string_view to_string(child_state x) noexcept {
  switch (x) {
  case child_state::running: return "running";
  case child_state::waiting: return "waiting";
  case child_state::stopping: return "stopping";
  default: return "ended";
  }
}

supervision_core::supervision_core(supervision_options options) : options_(std::move(options)) {}

supervision_core::child* supervision_core::find(const std::string& id) noexcept {
  auto at = std::find_if(children_.begin(), children_.end(),
                         [&](const child& x) { return x.spec.id == id; });
  return at != children_.end() ? &*at : nullptr;
}

// -- events ---------------------------------------------------------------------

result<supervise::commands> supervision_core::add(child_spec spec, time_point now) {
  if (stopping())
    return failed_precondition("supervisor '" + options_.path + "' is stopping: cannot start '"
                               + spec.id + "'");
  if (auto* old = find(spec.id)) {
    if (old->state != phase::ended)
      return already_exists("supervisor '" + options_.path + "' has a child '" + spec.id
                            + "' already");
    children_.erase(children_.begin() + (old - children_.data()));
  }
  auto seed = options_.seed + children_.size() + last_run_ * 0x9e3779b97f4a7c15u;
  children_.push_back({std::move(spec), backoff{options_.backoff, seed}});
  children_.back().ready = now;
  return advance(now);
}

supervise::commands supervision_core::remove(const std::string& id, time_point now) {
  if (auto* x = find(id)) {
    if (x->alive())
      x->remove = true;
    else
      children_.erase(children_.begin() + (x - children_.data()));
  }
  return advance(now);
}

supervise::commands supervision_core::exited(const std::string& id, uint64_t run, const status& why,
                                             time_point now) {
  auto* x = find(id);
  if (!x || !x->alive() || x->run != run)
    return {};
  ended(static_cast<size_t>(x - children_.data()), why, now);
  return advance(now);
}

supervise::commands supervision_core::timer(uint64_t epoch, time_point now) {
  if (epoch != epoch_)
    return {};
  scheduled_.reset();
  return advance(now);
}

supervise::commands supervision_core::stop(time_point now) {
  if (ending_ == ending::no)
    ending_ = ending::asked;
  return advance(now);
}

// -- decisions ---------------------------------------------------------------------

void supervision_core::ended(size_t index, const status& why, time_point now) {
  auto& x = children_[index];
  auto asked = x.state != phase::running;
  auto reason = to_string(why);
  x.state = phase::ended;
  if (!asked)
    x.last_reason = why.ok() ? std::string{} : reason;
  auto at = children_.begin() + static_cast<std::ptrdiff_t>(index);
  if (x.remove) {
    children_.erase(at);
    return;
  }
  if (stopping())
    return;
  if (x.recycle) {
    // The child starts again with its group.
    x.recycle = false;
    if (x.spec.restart == restart_policy::temporary)
      children_.erase(at);
    else
      x.state = phase::waiting;
    return;
  }
  if (x.spec.restart == restart_policy::temporary) {
    children_.erase(at);
    return;
  }
  if (x.spec.restart == restart_policy::transient && why.ok())
    return;
  restart(index, why, now);
}

void supervision_core::restart(size_t index, const status& why, time_point now) {
  auto& cause = children_[index];
  const auto budget =
    cause.spec.own_budget.value_or(restart_budget{options_.max_restarts, options_.within});
  auto& spent = cause.spec.own_budget ? cause.own_restarts : restarts_;
  while (!spent.empty() && spent.front() + budget.within <= now) spent.pop_front();
  if (spent.size() >= budget.max_restarts) {
    if (!cause.spec.own_budget)
      return fail(cause, why);
    dropped_.push_back(supervise::drop{cause.spec.id, too_often(cause, budget, why)});
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(index));
    return;
  }
  spent.push_back(now);
  ++total_restarts_;
  auto ready = now + cause.backoff.failed(now - cause.started);
  cause.state = phase::waiting;
  cause.ready = ready;
  if (options_.strategy == supervision_strategy::one_for_one)
    return;
  auto first = options_.strategy == supervision_strategy::one_for_all ? 0 : index + 1;
  for (auto i = first; i < children_.size(); ++i) {
    auto& x = children_[i];
    if (i == index)
      continue;
    if (x.alive())
      x.recycle = true;
    // A child that waits already is started with the group, so that the order of starts is kept.
    if (x.alive() || x.state == phase::waiting)
      x.ready = std::max(x.ready, ready);
  }
}

void supervision_core::fail(const child& who, const status& why) {
  ending_ = ending::failed;
  cause_ = too_often(who, {options_.max_restarts, options_.within}, why);
}

status supervision_core::too_often(const child& who, const restart_budget& budget,
                                   const status& why) const {
  auto reason = why.ok() ? std::string{"it ended normally, which it must not"} : to_string(why);
  return {why.ok() ? status_code::internal : why.code(),
          "supervisor '" + options_.path + "' gave up: child '" + who.spec.id + "' failed after "
            + std::to_string(budget.max_restarts) + " restarts within "
            + seconds_text(budget.within) + ": " + reason};
}

// -- commands ------------------------------------------------------------------------

supervise::commands supervision_core::advance(time_point now) {
  auto out = std::exchange(dropped_, {});
  if (ending_ == ending::over)
    return out;
  advance_stops(now, out);
  if (!stopping())
    advance_starts(now, out);
  else
    for (auto& x : children_)
      if (x.state == phase::waiting)
        x.state = phase::ended;
  if (stopping() && std::none_of(children_.begin(), children_.end(), [](const child& x) {
        return x.alive();
      })) {
    if (ending_ == ending::asked)
      out.push_back(supervise::stopped{});
    else
      out.push_back(supervise::give_up{cause_});
    ending_ = ending::over;
    return out;
  }
  advance_timer(out);
  return out;
}

void supervision_core::advance_stops(time_point now, commands& out) {
  // Children stop one at a time (`busy`), in the reverse of the order in which they were added, so
  // the loop runs backwards. A child that is to be removed does not wait for others.
  auto busy = false;
  for (auto i = children_.size(); i-- > 0;) {
    auto& x = children_[i];
    if (!x.alive())
      continue;
    auto in_turn = stopping() || x.recycle;
    if (!x.remove && !in_turn)
      continue;
    if (x.state == phase::running && !x.remove && busy)
      continue;
    busy |= in_turn;
    if (x.state == phase::running) {
      x.state = phase::stopping;
      x.deadline = now + x.spec.shutdown;
      out.push_back(supervise::stop{x.spec.id, x.run});
    }
    if (x.state == phase::stopping && x.deadline <= now) {
      x.state = phase::killed;
      x.deadline = now + options_.kill_budget;
      out.push_back(supervise::kill{x.spec.id, x.run});
    }
    if (x.state == phase::killed && x.deadline <= now) {
      ++abandoned_;
      out.push_back(supervise::abandon{x.spec.id, x.run});
      x.last_reason = "did not end when killed: abandoned";
      if (in_turn)
        busy = false;
      ended(i, cancelled("abandoned"), now);
    }
  }
}

void supervision_core::advance_starts(time_point now, commands& out) {
  if (std::any_of(children_.begin(), children_.end(), [](const child& x) { return x.recycle; }))
    return;
  for (auto& x : children_) {
    if (x.state != phase::waiting)
      continue;
    if (x.ready > now) {
      // Children of a group start in their order, so the later ones wait, too.
      if (options_.strategy != supervision_strategy::one_for_one)
        return;
      continue;
    }
    x.state = phase::running;
    x.restarts += x.run != 0;
    x.run = ++last_run_;
    x.started = now;
    out.push_back(supervise::start{x.spec.id, x.run});
  }
}

void supervision_core::advance_timer(commands& out) {
  std::optional<time_point> next;
  auto recycling =
    std::any_of(children_.begin(), children_.end(), [](const child& x) { return x.recycle; });
  for (auto& x : children_) {
    auto timed = x.state == phase::stopping || x.state == phase::killed;
    auto waits = x.state == phase::waiting && !stopping() && !recycling;
    if (timed || waits) {
      auto at = timed ? x.deadline : x.ready;
      next = next ? std::min(*next, at) : at;
    }
  }
  if (!next || (scheduled_ && *scheduled_ == *next))
    return;
  scheduled_ = next;
  out.push_back(supervise::schedule{*next, ++epoch_});
}

supervisor_snapshot supervision_core::snapshot() const {
  supervisor_snapshot result{.path = options_.path,
                             .strategy = options_.strategy,
                             .children = {},
                             .restarts = total_restarts_,
                             .abandoned = abandoned_};
  for (auto& x : children_) {
    auto state = x.state == phase::running   ? child_state::running
                 : x.state == phase::waiting ? child_state::waiting
                 : x.state == phase::ended   ? child_state::ended
                                             : child_state::stopping;
    result.children.push_back({x.spec.id, x.spec.restart, state, x.restarts, x.last_reason, {}});
  }
  return result;
}

} // namespace headrace::detail
