#include "headrace/actors/consumer/link_pool.hpp"

#include <algorithm>

namespace headrace::detail {

bool link_pool::line::is_used_by(const consumer_handle& who) const {
  return std::ranges::find(waiting, who) != waiting.end()
         || std::ranges::find(promised, who) != promised.end()
         || std::ranges::any_of(channels,
                                [&](const auto& entry) { return entry.second.who == who; });
}

std::shared_ptr<link_pool::line> link_pool::line_for(const std::string& address,
                                                     const consumer_handle& who) const {
  const auto [first, last] = lines_.equal_range(address);
  std::shared_ptr<line> least;
  size_t count = 0;
  for (auto at = first; at != last; ++at, ++count) {
    if (at->second->is_used_by(who))
      return at->second;
    if (!least || at->second->users() < least->users())
      least = at->second;
  }
  return least && (least->users() == 0 || count == most_links) ? least : nullptr;
}

std::vector<std::shared_ptr<link>> link_pool::take_unused() {
  std::vector<std::shared_ptr<link>> out;
  const auto before = now_() - kept_unused;
  for (auto at = lines_.begin(); at != lines_.end();) {
    const auto& x = *at->second;
    if (x.made && x.users() == 0 && x.unused_since <= before && lines_.count(x.address) > 1) {
      made_.erase(x.made.get());
      out.push_back(x.made);
      at = lines_.erase(at);
    } else {
      ++at;
    }
  }
  return out;
}

void link_pool::close(const std::vector<std::shared_ptr<link>>& unused) {
  for (const auto& x : unused) x->close(cancelled("the link was not used any more"));
}

link_pool::~link_pool() {
  for (const auto& [made, on] : made_)
    if (made->in_process())
      on->made->close(cancelled("the trainer reads no more"));
}

void link_pool::want(const std::string& address, const consumer_handle& who) {
  std::shared_ptr<line> on;
  std::shared_ptr<link> made;
  std::vector<std::shared_ptr<link>> unused;
  {
    std::lock_guard lock{mutex_};
    on = line_for(address, who);
    const bool is_new = !on;
    if (is_new) {
      on = std::make_shared<line>();
      on->address = address;
      lines_.emplace(address, on);
    }
    made = on->made;
    if (!on->is_used_by(who))
      (made ? on->promised : on->waiting).push_back(who);
    if (!made && !is_new)
      return;
    unused = take_unused();
  }
  close(unused);
  if (made)
    return port::tell(who, make_local<consumer_event>(link_made{address, made, {}}));
  const auto way = way_.lock();
  if (!way)
    return connected(on, unavailable("this node's links have ended"));
  way->connect(address, [self = shared_from_this(), on](result<std::shared_ptr<link>> outcome) {
    self->connected(on, std::move(outcome));
  });
}

void link_pool::connected(const std::shared_ptr<line>& on, result<std::shared_ptr<link>> outcome) {
  std::vector<consumer_handle> waiting;
  {
    std::lock_guard lock{mutex_};
    waiting = std::exchange(on->waiting, {});
    if (outcome) {
      on->made = *outcome;
      on->promised = waiting;
      made_.emplace(outcome->get(), on);
    } else {
      std::erase_if(lines_, [&](const auto& entry) { return entry.second == on; });
    }
  }
  const auto event = make_local<consumer_event>(
    link_made{on->address, outcome ? *outcome : nullptr, outcome.status()});
  if (outcome) {
    std::weak_ptr<link> weak = *outcome;
    // A link over a socket ends with the node, and keeps the pool alive until then, so that
    // consumers of later iterations find the pool and use its links. A link inside this process may
    // exist as long as a worker of the process, so it must not keep the pool alive.
    const auto kept = (*outcome)->in_process() ? nullptr : shared_from_this();
    (*outcome)->set_handlers({
      .on_message =
        [pool = weak_from_this(), kept, weak](link_message what) {
          const auto self = pool.lock();
          if (auto from = weak.lock(); self && from)
            self->arrived(*from, std::move(what));
        },
      .on_closed =
        [pool = weak_from_this(), kept, weak](const status& why) {
          const auto self = pool.lock();
          if (auto from = weak.lock(); self && from)
            self->closed(from, why);
        },
      .on_drained = {},
    });
  }
  for (const auto& who : waiting) port::tell(who, event);
}

uint32_t link_pool::open_channel(const std::shared_ptr<link>& on, const consumer_handle& who,
                                 receiver events) {
  std::lock_guard lock{mutex_};
  const auto at = made_.find(on.get());
  if (at == made_.end())
    return 0; // the link was closed while `link_made` was in the actor's mailbox
  auto& line = *at->second;
  std::erase(line.promised, who);
  const auto channel = ++last_channel_;
  line.channels[channel] = {who, std::make_shared<const receiver>(std::move(events))};
  return channel;
}

void link_pool::close_channel(const link* on, uint32_t channel) {
  std::vector<std::shared_ptr<link>> unused;
  {
    std::lock_guard lock{mutex_};
    if (const auto at = made_.find(on); at != made_.end()) {
      at->second->channels.erase(channel);
      at->second->unused_since = now_();
    }
    unused = take_unused();
  }
  close(unused);
}

void link_pool::forget(const consumer_handle& who) {
  std::lock_guard lock{mutex_};
  for (auto& [address, on] : lines_)
    if (std::erase(on->waiting, who) + std::erase(on->promised, who) != 0)
      on->unused_since = now_();
}

void link_pool::arrived(const link& from, link_message what) {
  std::shared_ptr<const receiver> to;
  {
    std::lock_guard lock{mutex_};
    const auto on = made_.find(&from);
    if (on == made_.end())
      return;
    const auto& channels = on->second->channels;
    const auto at = channels.find(what.channel);
    if (at == channels.end())
      return; // the stream was closed
    to = at->second.events;
  }
  to->on_message(from, std::move(what));
}

void link_pool::closed(const std::shared_ptr<link>& from, const status& why) {
  std::shared_ptr<line> on;
  {
    std::lock_guard lock{mutex_};
    if (auto known = made_.extract(from.get()))
      on = std::move(known.mapped());
    else
      return;
    const auto [first, last] = lines_.equal_range(on->address);
    for (auto at = first; at != last; ++at)
      if (at->second == on) {
        lines_.erase(at);
        break;
      }
  }
  for (const auto& [channel, x] : on->channels) x.events->on_closed(*from, channel, why);
}

} // namespace headrace::detail
