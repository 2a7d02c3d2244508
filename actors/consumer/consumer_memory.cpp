#include "headrace/actors/consumer/consumer_memory.hpp"

#include "headrace/actors/protocol/codec/stream_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <variant>

namespace headrace::detail {

namespace {

/// A thread handles at most `most_events` events before it unlocks the mutex, and locks the mutex
/// at most `most_rounds` times before it leaves the rest to the actor. Otherwise a thread to which
/// events come as fast as it handles them would never return.
constexpr size_t most_events = 64, most_rounds = 4;

status why_it_ends(const std::exception_ptr& thrown) {
  if (!thrown)
    return cancelled("this process has closed its connections to the service");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& x) {
    return internal_error(fmt::format("the consumer failed: {}", x.what()));
  } catch (...) {
    return internal_error("the consumer failed");
  }
}

} // namespace

consume::commands consumer_memory::carry_out(consume::commands what,
                                             const std::shared_ptr<link>& fresh) {
  consume::commands rest;
  append_to(rest, std::move(what), fresh);
  while (!not_opened_.empty())
    for (auto id : std::exchange(not_opened_, {}))
      append_to(rest, core->stream_cut(id, unavailable("the connection is over"), actor.now()), {});
  return rest;
}

void consumer_memory::append_to(consume::commands& rest, consume::commands what,
                                const std::shared_ptr<link>& fresh) {
  for (auto& one : what)
    if (const auto* opens = std::get_if<consume::open_stream>(&one))
      open_stream(opens->task, fresh);
    else if (const auto* message = std::get_if<consume::send>(&one))
      send(*message);
    else if (const auto* closes = std::get_if<consume::close_stream>(&one))
      close_stream(closes->task);
    else
      rest.push_back(std::move(one));
}

void consumer_memory::open_stream(task_id task, const std::shared_ptr<link>& fresh) {
  const auto channel = actor.open_channel(fresh);
  if (channel == 0) // the link was closed while the event was in the actor's mailbox
    return not_opened_.push_back(task);
  routes[task] = {fresh, channel};
  by_channel[{fresh.get(), channel}] = task;
}

void consumer_memory::send(const consume::send& what) {
  if (const auto at = routes.find(what.task); at != routes.end())
    at->second.over->send(write_message(at->second.channel, what.what));
}

void consumer_memory::close_stream(task_id task) {
  const auto at = routes.find(task);
  if (at == routes.end())
    return;
  by_channel.erase({at->second.over.get(), at->second.channel});
  actor.close_channel(at->second.over.get(), at->second.channel);
  routes.erase(at);
}

consume::commands consumer_memory::handle_inbox() {
  consume::commands rest;
  if (!takes_events())
    return rest;
  for (size_t i = 0; i < most_events; ++i) {
    auto next = inbox.pop();
    if (!next)
      break;
    handle(rest, *std::move(next));
  }
  if (inbox.pop_trainer_moved())
    append_to(rest, core->trainer_moved(actor.now()), {});
  if (gathers_events)
    handled_at = actor.now();
  return rest;
}

void consumer_memory::handle(consume::commands& rest, consumer_inbox::channel_event what) {
  const auto at = by_channel.find({what.from, what.channel});
  if (at == by_channel.end())
    return; // the stream was closed
  const auto task = at->second;
  if (auto* said = std::get_if<result<from_task>>(&*what.what))
    return append_to(rest, core->arrived(task, std::move(*said), actor.now()), {});
  by_channel.erase(at);
  routes.erase(task);
  append_to(rest, core->stream_cut(task, std::get<channel_cut>(*what.what).why, actor.now()), {});
}

void consumer_memory::end() {
  if (core && !core->has_left())
    try {
      for (const auto& what : core->consumer_ends(why_it_ends(thrown)))
        if (const auto* last = std::get_if<consume::send>(&what))
          send(*last);
    } catch (...) {
      // A task that was sent nothing gives this consumer up when the consumer's lease has expired.
    }
  for (const auto& [id, where] : routes) actor.close_channel(where.over.get(), where.channel);
  routes.clear();
  by_channel.clear();
  inbox.clear();
  core.reset();
  actor = {};
}

namespace {

/// Sends the actor an event if something is left to it. @pre the mutex is locked
void announce_if_needed(consumer_memory& of, bool leaves_events) {
  const auto next = of.core->next_deadline();
  const bool is_earlier = next && (!of.reminder || *next < *of.reminder);
  const bool decodes = of.inbox.needs_decoding();
  if (!of.announced
      && (is_earlier || decodes || leaves_events || of.thrown || !of.unfinished.empty())) {
    of.actor.announce();
    of.announced = true;
  }
  if (decodes)
    of.inbox.starts_decoding();
}

status cannot_decode(const std::exception& why) {
  if (dynamic_cast<const std::bad_alloc*>(&why) != nullptr)
    return resource_exhausted("not enough memory to decode it");
  return internal_error(fmt::format("decoding failed: {}", why.what()));
}

} // namespace

void try_handle_inbox(consumer_memory& of) {
  for (size_t round = 1;; ++round) {
    std::unique_lock hold{of.mutex, std::try_to_lock};
    if (!hold || !of.takes_events())
      return;
    try {
      std::ranges::move(of.handle_inbox(), std::back_inserter(of.unfinished));
    } catch (...) {
      // The actor ends with this error when it runs next, as if it had handled the event itself.
      of.thrown = std::current_exception();
    }
    const bool leaves_events = round >= most_rounds && of.inbox.has_work();
    announce_if_needed(of, leaves_events);
    hold.unlock();
    if (leaves_events || !of.inbox.has_work())
      return;
  }
}

namespace {

/// As `try_handle_inbox`, but if `may_wait` returns true, the events are left to the actor.
template <class Predicate>
void handle_or_leave(consumer_memory& of, Predicate may_wait) {
  {
    // A thread that has locked the mutex handles this event, too, or leaves it to the actor.
    std::unique_lock hold{of.mutex, std::try_to_lock};
    if (!hold || !of.takes_events())
      return;
    if (may_wait())
      return announce_if_needed(of, true);
  }
  try_handle_inbox(of);
}

/// See `gathers_events`.
bool follows_fast(const consumer_memory& of) {
  return of.actor.now() - of.handled_at < consumer_memory::gathering_pause;
}

} // namespace

result<from_task> decode_message(const consumer_memory& of, const link_message& what) {
  try {
    return read_from_task(what, of.components);
  } catch (const std::exception& why) {
    return cannot_decode(why);
  }
}

void take_message(consumer_memory& of, const link& from, link_message what) {
  consumer_inbox::channel_event event{
    .from = &from, .channel = what.channel, .what = {}, .packed = {}};
  try {
    auto said = read_plain_from_task(what, of.components);
    if (!said)
      event.what = result<from_task>{said.status()};
    else if (*said)
      event.what = result<from_task>{*std::move(*said)};
    else
      event.packed = std::move(what);
  } catch (const std::exception& why) {
    event.what = result<from_task>{cannot_decode(why)};
  }
  of.inbox.push(std::move(event));
  if (of.gathers_events)
    handle_or_leave(of, [&] { return follows_fast(of); });
  else
    try_handle_inbox(of);
}

void take_cut(consumer_memory& of, const link& from, uint32_t channel, const status& why) {
  of.inbox.push({.from = &from, .channel = channel, .what = channel_cut{why}, .packed = {}});
  try_handle_inbox(of);
}

void take_trainer_moved(consumer_memory& of) {
  of.inbox.push_trainer_moved();
  handle_or_leave(
    of, [&] { return of.gathers_events ? follows_fast(of) : of.core->postpones_trainer_moved(); });
}

} // namespace headrace::detail
