#include "headrace/actors/consumer/consumer_memory.hpp"

#include "headrace/actors/protocol/stream_codec.hpp"

#include <fmt/format.h>

#include <iterator>
#include <variant>

namespace headrace::detail {

namespace {

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
  while (auto next = inbox.pop()) arrived(rest, *std::move(next));
  if (inbox.pop_trainer_moved())
    append_to(rest, core->trainer_moved(actor.now()), {});
  return rest;
}

void consumer_memory::arrived(consume::commands& rest, consumer_inbox::message what) {
  const auto at = by_channel.find({what.from, what.channel});
  if (at != by_channel.end()) // otherwise the stream was closed
    append_to(rest, core->arrived(at->second, *std::move(what.said), actor.now()), {});
}

consume::commands consumer_memory::link_lost(const link* lost, const status& why) {
  std::vector<task_id> cut;
  for (const auto& [id, where] : routes)
    if (where.over.get() == lost)
      cut.push_back(id);
  consume::commands rest;
  for (auto id : cut) {
    by_channel.erase({lost, routes.at(id).channel});
    routes.erase(id);
    append_to(rest, core->stream_cut(id, why, actor.now()), {});
  }
  return rest;
}

void consumer_memory::end() {
  if (core && !left)
    for (const auto& what : core->consumer_ends(why_it_ends(thrown)))
      if (const auto* last = std::get_if<consume::send>(&what))
        send(*last);
  for (const auto& [id, where] : routes) actor.close_channel(where.over.get(), where.channel);
  routes.clear();
  by_channel.clear();
  inbox.clear();
  core.reset();
  actor = {};
}

namespace {

/// Sends the actor an event if something is left to it. @pre the mutex is locked
void announce_if_needed(consumer_memory& of) {
  const auto next = of.core->next_deadline();
  const bool is_earlier = next && (!of.reminder || *next < *of.reminder);
  const bool decodes = of.inbox.starts_decoding();
  if ((is_earlier || decodes || of.thrown || !of.unfinished.empty())
      && !std::exchange(of.announced, true))
    of.actor.announce();
}

/// The message as it is put into the inbox.
consumer_inbox::message inbox_message(const link& from, link_message what,
                                      const std::vector<tensor_spec>& components) {
  consumer_inbox::message out{.from = &from, .channel = what.channel, .said = {}, .packed = {}};
  auto said = read_plain_from_task(what, components);
  if (!said)
    out.said = said.status();
  else if (*said)
    out.said = *std::move(*said);
  else
    out.packed = std::move(what);
  return out;
}

} // namespace

void try_handle_inbox(consumer_memory& of) {
  do {
    std::unique_lock hold{of.mutex, std::try_to_lock};
    if (!hold || !of.takes_events())
      return;
    try {
      auto more = of.handle_inbox();
      of.unfinished.insert(of.unfinished.end(), std::move_iterator{more.begin()},
                           std::move_iterator{more.end()});
    } catch (...) {
      // The actor ends with this error, as if it had handled the event.
      of.thrown = std::current_exception();
    }
    announce_if_needed(of);
  } while (of.inbox.has_work());
}

void take_message(consumer_memory& of, const link& from, link_message what) {
  try {
    of.inbox.push(inbox_message(from, std::move(what), of.components));
  } catch (...) {
    std::lock_guard hold{of.mutex};
    if (!of.takes_events())
      return;
    of.thrown = std::current_exception();
    return announce_if_needed(of);
  }
  try_handle_inbox(of);
}

void take_trainer_moved(consumer_memory& of) {
  of.inbox.push_trainer_moved();
  try_handle_inbox(of);
}

} // namespace headrace::detail
