#include "headrace/actors/task/task_core.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

// The streams to consumers: what arrives on them, and what is sent.

namespace {

/// How often a task that is busy says to its worker how far it is.
constexpr auto report_interval = std::chrono::milliseconds{200};
/// How long a trainer waits for production before others' rows are recalled for it.
constexpr auto patience = std::chrono::milliseconds{5};

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};

} // namespace

void task_core::move(consumer_id who, stream_key over) {
  auto& route = routes_[who];
  owners_.erase(route.over);
  route = {over, {}};
  if (over)
    owners_[over] = who;
}

produce::commands task_core::arrived(stream_key over, const result<from_consumer>& what,
                                     time_point now) {
  if (over_)
    return {};
  return event([&] {
    if (!what) {
      // A message that a newer consumer sends is whole: only its own stream cannot go on.
      if (what.status().code() == status_code::unimplemented)
        return then(produce::send{over, stream_failed{what.status()}});
      log_.warn("bad stream message", {{"why", what.status()}});
      return then(produce::close_link{over, what.status()});
    }
    if (const auto* first = std::get_if<stream_open>(&*what))
      return open(over, *first, now);
    const auto at = owners_.find(over);
    if (at == owners_.end())
      return;
    const auto who = at->second;
    std::visit(overloaded{
                 [](const stream_open&) {},
                 [&](const stream_grant& x) {
                   output_.grant(who, x.handed_out, x.elements, x.bytes, x.waiting);
                   output_.received(who, x.received);
                 },
                 [&](const stream_recalled& x) { output_.recalled(who, x.id, x.mark); },
                 [&](const stream_close&) { leave(who); },
               },
               *what);
    deal(now);
  });
}

void task_core::open(stream_key over, const stream_open& what, time_point now) {
  if (what.life != order_.life)
    return then(produce::send{
      over, stream_failed{aborted(fmt::format("task {} is now in its life {}", to_string(order_.id),
                                              order_.life.value))}});
  if (!routes_.contains(what.consumer) && what.received != 0)
    return then(produce::send{
      over, stream_failed{aborted("this stream was given up while its consumer was away")}});
  move(what.consumer, over);
  output_.open(what.consumer, what.received, what.handed_out);
  numbers_.streams = static_cast<uint32_t>(routes_.size());
  if (leaving_)
    then(produce::send{over, stream_leaving{}});
  else if (!opened_)
    start_runner(now);
  deal(now);
}

produce::commands task_core::stream_cut(stream_key over, time_point now) {
  if (over_)
    return {};
  return event([&] {
    const auto at = owners_.find(over);
    if (at == owners_.end())
      return;
    const auto who = at->second;
    move(who, {});
    routes_.at(who).gone_at = now + limits_.consumer_lease;
    output_.cut(who);
  });
}

void task_core::leave(consumer_id who) {
  const auto at = routes_.find(who);
  if (at == routes_.end())
    return;
  owners_.erase(at->second.over);
  routes_.erase(at);
  output_.leave(who);
  numbers_.streams = static_cast<uint32_t>(routes_.size());
}

produce::commands task_core::cannot_send(const status& why, time_point now) {
  if (over_)
    return {};
  return event([&] { fail(why, now); });
}

void task_core::deal(time_point now) {
  const bool dry = dry_at_ && *dry_at_ <= now;
  for (auto& action : output_.deal(dry))
    std::visit(
      overloaded{
        [&](task_output::send_block& x) {
          then(produce::send{routes_.at(x.to).over, stream_block{x.first, std::move(x.rows)}});
        },
        [&](const task_output::send_recall& x) {
          then(produce::send{routes_.at(x.to).over, stream_recall{x.id, x.keep}});
        },
        [&](const task_output::send_end& x) {
          then(produce::send{routes_.at(x.to).over, stream_end{x.elements}});
        },
      },
      action);
  if (dry || !output_.could_recall())
    dry_at_.reset();
  if (!dry_at_ && output_.could_recall())
    dry_at_ = now + patience;
  // The runner may go on by as much as was dealt.
  if (const auto pending = output_.pending_bytes(); taken_from_runner_ > pending) {
    then(produce::take_over_bytes{taken_from_runner_ - pending});
    taken_from_runner_ = pending;
  }
  if (output_.finished() || (leaving_ && output_.delivered()))
    return finish(now);
  if (now >= reported_ + report_interval)
    return report(now);
  // There may be nothing to deal for long.
  report_due_ = true;
}

std::optional<time_point> task_core::next_deadline() const {
  if (over_)
    return {};
  std::optional<time_point> next;
  const auto consider = [&](const std::optional<time_point>& at) {
    if (at)
      next = next ? std::min(*next, *at) : at;
  };
  for (const auto& [who, route] : routes_) consider(route.gone_at);
  consider(dry_at_);
  if (report_due_)
    consider(reported_ + report_interval);
  return next;
}

produce::commands task_core::timer(time_point now) {
  if (over_)
    return {};
  return event([&] {
    std::vector<consumer_id> gone;
    for (const auto& [who, route] : routes_)
      if (route.gone_at && *route.gone_at <= now)
        gone.push_back(who);
    for (auto who : gone) leave(who);
    deal(now);
  });
}

} // namespace headrace
