#include "headrace/actors/task/task_core.hpp"
#include "headrace/runtime/base/overloaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace headrace::detail {

// This file has the streams to consumers, with the messages from and to the consumers.

namespace {

/// How often a busy task reports its progress to its worker.
constexpr auto report_interval = std::chrono::milliseconds{200};
/// How long a trainer waits for the runner before rows of other streams are recalled for it.
constexpr auto patience = std::chrono::milliseconds{5};
/// The most streams of consumers that the job has not named yet.
constexpr size_t most_strangers = 1024;

} // namespace

void task_core::move(consumer_id who, stream_key over) {
  const auto [at, is_new] = routes_.try_emplace(who);
  auto& route = at->second;
  if (is_new && !is_named(who))
    unnamed_.insert(who);
  owners_.erase(route.over);
  route.over = over;
  if (over)
    owners_[over] = who;
}

produce::commands task_core::arrived(stream_key over, const result<from_consumer>& what,
                                     time_point now) {
  if (over_)
    return {};
  return event([&] {
    if (!what) {
      // A message of an unknown kind may be valid in a newer version, so only its stream fails.
      if (what.status().code() == status_code::unimplemented)
        return then(produce::send{over, stream_failed{what.status()}});
      log_.warn("bad stream message", {{"why", what.status()}});
      return then(produce::close_link{over, what.status()});
    }
    if (const auto* first = std::get_if<stream_open>(&*what))
      return open(over, *first, now);
    const auto at = owners_.find(over);
    if (at == owners_.end())
      return from_stranger(over, *what);
    const auto who = at->second;
    std::visit(overloaded{
                 [](const stream_open&) {},
                 [&](const stream_grant& x) { granted(who, x); },
                 [&](const stream_recalled& x) { output_->recalled(who, x.id, x.mark); },
                 [&](const stream_close&) { leave(who); },
               },
               *what);
    account(now);
    deal(now);
  });
}

void task_core::granted(consumer_id who, const stream_grant& what) {
  output_->grant(who, what.handed_out, what.elements, what.bytes, what.waiting);
  output_->taken(who, what.taken);
  output_->received(who, what.received);
  output_->claims(who, what.claimed);
  output_->in_epoch(who, what.epoch);
}

void task_core::open(stream_key over, const stream_open& what, time_point now) {
  if (what.life != order_.life)
    return then(produce::send{
      over, stream_failed{aborted(fmt::format("task {} is now in its life {}", to_string(order_.id),
                                              order_.life.value))}});
  if (is_named(what.consumer))
    return is_from_its_node(what) ? admit(over, what, now) : refuse(over, what);
  // The stream is kept for a lease: the job names the consumer soon, unless the consumer is gone.
  if (strangers_.size() < most_strangers)
    strangers_[over] = {what, now + order_.lease, {}};
  else
    then(produce::send{over, stream_failed{resource_exhausted(fmt::format(
                               "task {} has {} streams of consumers that its job did not name",
                               to_string(order_.id), most_strangers))}});
}

bool task_core::is_from_its_node(const stream_open& what) const {
  const auto at = readers_.nodes.find(what.consumer);
  return at == readers_.nodes.end() || at->second == what.node;
}

void task_core::refuse(stream_key over, const stream_open& what) {
  // Refusals may be frequent, so only some of them are logged.
  if (std::has_single_bit(++refused_))
    log_.warn("stream refused: it is opened for a reader of another node",
              {{"consumer", what.consumer}, {"node", what.node}, {"refused_so_far", refused_}});
  auto why = fmt::format("task {} serves this consumer at the node that its job names, and at no "
                         "other one",
                         to_string(order_.id));
  then(produce::send{over, stream_failed{{status_code::permission_denied, std::move(why)}}});
}

void task_core::admit(stream_key over, const stream_open& what, time_point now) {
  // In coordinated reads a consumer may replace one that is gone.
  if (!routes_.contains(what.consumer) && what.received != 0 && order_.num_consumers == 0)
    return then(produce::send{
      over, stream_failed{aborted("this stream was given up while its consumer was away")}});
  if (auto how = output_->opened(what.consumer, what); !how)
    return then(produce::send{over, stream_failed{std::move(how)}});
  move(what.consumer, over);
  numbers_.streams = static_cast<uint32_t>(routes_.size());
  then(produce::send{over, stream_opened{}});
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
    strangers_.erase(over);
    const auto at = owners_.find(over);
    if (at == owners_.end())
      return;
    const auto who = at->second;
    move(who, {});
    routes_.at(who).cut_at = now;
    output_->cut(who);
    deal(now);
  });
}

// -- readers --------------------------------------------------------------------------------

bool task_core::is_named(consumer_id who) const {
  return std::ranges::find(readers_.consumers, who) != readers_.consumers.end();
}

void task_core::name(const task_readers& who) {
  if (who.version < readers_.version)
    return;
  const auto before = std::exchange(readers_, who);
  const std::set<consumer_id> named{who.consumers.begin(), who.consumers.end()};
  unnamed_.clear();
  for (auto& [one, route] : routes_)
    if (named.contains(one))
      route.gone_until.reset();
    else
      unnamed_.insert(one);
  if (order_.shared && leases_splits())
    for (auto one : before.consumers)
      account_due_ |= !named.contains(one) && !who.departed.contains(one);
}

void task_core::account(time_point now) {
  if (!account_due_ || !unnamed_.empty())
    return;
  account_due_ = false;
  account_said_ = true;
  uint64_t lost = 0;
  for (const auto& [who, marks] : output_->lost()) lost += marks.received - marks.handed_out;
  splits_wish what{.which = {account_source, 0, readers_.version},
                   .given =
                     given_account{readers_.version, output_->given().receipt_of(order_.id), lost}};
  report(now, detail::splits_wanted{run_, std::move(what)});
}

void task_core::let_depart() {
  for (const auto& [consumer, mark] : readers_.departed) {
    output_->handed_out(consumer, mark);
    leave(consumer);
  }
}

produce::commands task_core::readers_named(const task_readers& who, time_point now) {
  if (over_ || who.version < readers_.version)
    return {};
  return event([&] {
    name(who);
    let_depart();
    for (const auto& [over, who_waits] : std::map{strangers_})
      if (is_named(who_waits.wanted.consumer)) {
        strangers_.erase(over);
        if (!is_from_its_node(who_waits.wanted)) {
          refuse(over, who_waits.wanted);
          continue;
        }
        admit(over, who_waits.wanted, now);
        if (const auto& x = who_waits.grant)
          granted(who_waits.wanted.consumer, *x);
      }
    look_at_the_gone(now);
    account(now);
    deal(now);
  });
}

void task_core::look_at_the_gone(time_point now) {
  // The rows of a job's only reader can go to no other reader.
  if (!order_.shared)
    return;
  std::vector<consumer_id> free;
  for (auto who : unnamed_) {
    auto& route = routes_.at(who);
    if (!route.over) {
      if (free_at(route) <= now)
        free.push_back(who);
    } else if (!route.gone_until) {
      // The consumer reports how much it has handed out, and leaves. It may keep the rows that it
      // hands out until then.
      route.gone_until = now + order_.lease;
      then(produce::send{
        route.over,
        stream_failed{aborted(
          order_.num_consumers != 0
            ? "the job gave this consumer of its rounds up, as it was not heard of for its lease, "
              "or "
              "as another one came in its place (`rejoin`)"
            : "the job gave this reader up, as it was not heard of for its lease; rows "
              "that it has not handed out are no longer its own")}});
    } else if (*route.gone_until <= now) {
      then(produce::close_link{route.over, aborted("a reader that its job gave up does not say how "
                                                   "far it is")});
      route.gone_until = now + order_.lease;
    }
  }
  for (auto who : free) give_up(who);
}

void task_core::from_stranger(stream_key over, const from_consumer& what) {
  const auto at = strangers_.find(over);
  if (at == strangers_.end())
    return;
  if (const auto* grant = std::get_if<stream_grant>(&what))
    at->second.grant = *grant;
  else if (std::holds_alternative<stream_close>(what))
    strangers_.erase(at);
}

void task_core::look_at_strangers(time_point now) {
  std::erase_if(strangers_, [&](const auto& entry) {
    if (entry.second.until > now)
      return false;
    // Only the job decides who is a reader, and the job's message to this task may be late. So the
    // consumer opens the stream again, unless the job answers to the consumer that it is no reader.
    then(produce::send{entry.first,
                       stream_failed{not_found(fmt::format(
                         "the job of task {} does not name this consumer as one of its readers",
                         to_string(order_.id)))}});
    return true;
  });
}

void task_core::leave(consumer_id who) {
  const auto at = routes_.find(who);
  if (at == routes_.end())
    return;
  owners_.erase(at->second.over);
  routes_.erase(at);
  unnamed_.erase(who);
  output_->leave(who);
  numbers_.streams = static_cast<uint32_t>(routes_.size());
}

void task_core::give_up(consumer_id who) {
  output_->give_up(who);
  leave(who);
}

produce::commands task_core::room_came(time_point now) {
  if (over_)
    return {};
  return event([&] { deal(now); });
}

produce::commands task_core::cannot_send(const status& why, time_point now) {
  if (over_)
    return {};
  return event([&] { fail(why, now); });
}

void task_core::deal(time_point now) {
  const bool dry = dry_at_ && *dry_at_ <= now;
  for (auto& action : output_->deal_at(now, dry))
    std::visit(
      overloaded{
        [&](dealer::send_block& x) {
          then(
            produce::send{routes_.at(x.to).over, stream_block{x.first, std::move(x.rows), x.skipped,
                                                              std::move(x.forms), x.claimed}});
        },
        [&](const dealer::send_recall& x) {
          then(produce::send{routes_.at(x.to).over, stream_recall{x.id, x.keep}});
        },
        [&](const dealer::send_claimed& x) {
          then(produce::send{routes_.at(x.to).over, stream_claimed{x.elements}});
        },
        [&](const dealer::send_received_by_all& x) {
          then(produce::send{routes_.at(x.to).over, stream_received_by_all{x.epoch, x.groups}});
        },
        [&](const dealer::send_end& x) {
          then(produce::send{routes_.at(x.to).over, stream_end{x.elements, outcome()}});
        },
      },
      action);
  if (dry || !output_->could_recall())
    dry_at_.reset();
  if (!dry_at_ && output_->could_recall())
    dry_at_ = now + patience;
  // Bytes that were dealt are no longer outstanding: the runner may produce as many more.
  if (const auto pending = output_->pending_bytes(); taken_from_runner_ > pending) {
    then(produce::take_over_bytes{taken_from_runner_ - pending});
    taken_from_runner_ = pending;
  }
  // The task waits until its rows are handed out, perhaps by a reader that has yet to join; while
  // the worker leaves, its drain limits that time. The job must first count the elements that were
  // lost with readers, so that the other readers get the count at the end.
  const bool counted = !account_said_ || output_->lost().empty();
  if ((output_->finished() && counted) || (leaving_ && output_->delivered()))
    return finish(now);
  if (now >= reported_ + report_interval)
    return report(now);
  // The report is sent when its interval has passed, even if nothing is dealt until then.
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
  for (const auto& [over, who] : strangers_) consider(who.until);
  if (order_.shared)
    for (auto who : unnamed_) {
      const auto& route = routes_.at(who);
      consider(route.over ? route.gone_until : free_at(route));
    }
  consider(dry_at_);
  consider(output_->next_deadline());
  if (report_due_)
    consider(reported_ + report_interval);
  return next;
}

produce::commands task_core::timer(time_point now) {
  if (over_)
    return {};
  return event([&] {
    look_at_strangers(now);
    look_at_the_gone(now);
    account(now);
    deal(now);
  });
}

} // namespace headrace::detail
