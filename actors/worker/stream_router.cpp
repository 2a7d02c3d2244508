#include "headrace/actors/worker/stream_router.hpp"

#include "headrace/actors/stream/stream_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace headrace::detail {

void stream_router::serve(const std::shared_ptr<link>& peer) {
  // The link owns its handlers and lives until it is closed, so the handlers must not own the link.
  auto self = shared_from_this();
  std::weak_ptr<link> weak = peer;
  peer->set_handlers({
    .on_message =
      [self, weak](link_message what) {
        if (auto from = weak.lock())
          self->arrived(from, std::move(what));
      },
    .on_closed =
      [self, weak](const status&) {
        if (auto from = weak.lock())
          self->closed(from);
      },
    .on_drained = {},
  });
}

void stream_router::add(task_id id, task_handle task) {
  std::vector<channel> again;
  {
    std::lock_guard lock{mutex_};
    tasks_[id] = std::move(task);
    if (auto known = cut_off_.extract(id))
      again = std::move(known.mapped());
  }
  const auto why =
    not_found(fmt::format("task {} was started again: open the stream again", id.value));
  for (const auto& x : again)
    if (const auto over = x.over.lock())
      send_failure(*over, x.number, why);
}

std::vector<stream_router::channel> stream_router::take_channels(task_id id) {
  std::vector<channel> out;
  tasks_.erase(id);
  for (auto& [over, channels] : routes_)
    std::erase_if(channels, [&](const auto& entry) {
      if (entry.second.id != id)
        return false;
      out.push_back({entry.second.over, entry.first});
      return true;
    });
  std::erase_if(routes_, [](const auto& entry) { return entry.second.empty(); });
  return out;
}

void stream_router::remove(task_id id) {
  std::lock_guard lock{mutex_};
  take_channels(id);
  cut_off_.erase(id);
}

void stream_router::crashed(task_id id) {
  std::lock_guard lock{mutex_};
  // The entry has channels already if the actor crashed before, and no other has started since.
  std::ranges::move(take_channels(id), std::back_inserter(cut_off_[id]));
}

task_handle stream_router::task(task_id id) {
  std::lock_guard lock{mutex_};
  auto at = tasks_.find(id);
  return at != tasks_.end() ? at->second : task_handle{};
}

void stream_router::arrived(const std::shared_ptr<link>& from, link_message what) {
  status why;
  const auto channel = what.channel;
  if (auto task = find(from, what, why))
    port::tell(task, make_local<task_event>(stream_arrived{from, std::move(what)}));
  else if (!why.ok())
    send_failure(*from, channel, why);
}

task_handle stream_router::find(const std::shared_ptr<link>& from, const link_message& what,
                                status& why) {
  std::lock_guard lock{mutex_};
  const auto over = routes_.find(from.get());
  if (over != routes_.end())
    if (const auto at = over->second.find(what.channel); at != over->second.end()) {
      const auto known = stream_message::parse(what.header);
      auto to = at->second.task;
      if (known.valid() && known->which() == schema::StreamMessage::CLOSE)
        over->second.erase(at);
      return to;
    }
  const auto first = stream_message::parse(what.header);
  if (!first.valid()) {
    why = first.status();
    return {};
  }
  if (first->which() != schema::StreamMessage::OPEN)
    return {}; // the task or the stream has ended
  const task_id id{first->getOpen().getTaskId()};
  auto at = tasks_.find(id);
  if (at == tasks_.end()) {
    why = not_found(fmt::format("this worker has no task {} (any more)", id.value));
    return {};
  }
  if (over != routes_.end() && over->second.size() >= most_channels) {
    why = resource_exhausted(
      fmt::format("this link has {} streams open, and a link may have no more than that: close "
                  "some, or use another link",
                  most_channels));
    return {};
  }
  routes_[from.get()].emplace(what.channel, route{id, at->second, from});
  return at->second;
}

void stream_router::closed(const std::shared_ptr<link>& from) {
  std::map<task_id, task_handle> concerned;
  {
    std::lock_guard lock{mutex_};
    if (const auto gone = routes_.extract(from.get()))
      for (const auto& [channel, to] : gone.mapped()) concerned.emplace(to.id, to.task);
  }
  for (const auto& [id, task] : concerned)
    port::tell(task, make_local<task_event>(stream_cut{from}));
}

} // namespace headrace::detail
