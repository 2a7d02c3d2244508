#include "headrace/actors/consumer/link_pool.hpp"

#include <algorithm>

namespace headrace::detail {

void link_pool::want(const std::string& address, const consumer_handle& who) {
  std::shared_ptr<link> made;
  {
    std::lock_guard lock{mutex_};
    auto [at, fresh] = links_.try_emplace(address);
    made = at->second.made;
    if (!made) {
      at->second.waiting.push_back(who);
      if (!fresh)
        return;
    }
  }
  if (made)
    return port::tell(who, make_local<consumer_event>(link_made{address, made, {}}));
  const auto way = way_.lock();
  if (!way)
    return connected(address, unavailable("this node's links have ended"));
  way->connect(address,
               [self = shared_from_this(), address](result<std::shared_ptr<link>> outcome) {
                 self->connected(address, std::move(outcome));
               });
}

void link_pool::connected(const std::string& address, result<std::shared_ptr<link>> outcome) {
  std::vector<consumer_handle> waiting;
  {
    std::lock_guard lock{mutex_};
    auto& entry = links_[address];
    waiting = std::exchange(entry.waiting, {});
    if (outcome)
      entry.made = *outcome;
    else
      links_.erase(address);
  }
  const auto event =
    make_local<consumer_event>(link_made{address, outcome ? *outcome : nullptr, outcome.status()});
  if (outcome) {
    std::weak_ptr<link> weak = *outcome;
    (*outcome)->set_handlers({
      .on_message =
        [self = shared_from_this(), weak](link_message what) {
          if (auto from = weak.lock())
            self->arrived(from, std::move(what));
        },
      .on_closed =
        [self = shared_from_this(), weak](const status& why) {
          if (auto from = weak.lock())
            self->closed(from, why);
        },
      .on_drained = {},
    });
  }
  for (const auto& who : waiting) port::tell(who, event);
}

uint32_t link_pool::open_channel(const std::shared_ptr<link>& on, const consumer_handle& who) {
  std::lock_guard lock{mutex_};
  if (std::none_of(links_.begin(), links_.end(),
                   [&](const auto& entry) { return entry.second.made == on; }))
    return 0; // the link was closed while `link_made` was in the actor's mailbox
  const auto channel = ++last_channel_;
  channels_[{on.get(), channel}] = who;
  return channel;
}

void link_pool::close_channel(const link* on, uint32_t channel) {
  std::lock_guard lock{mutex_};
  channels_.erase({on, channel});
}

void link_pool::arrived(const std::shared_ptr<link>& from, link_message what) {
  consumer_handle to;
  {
    std::lock_guard lock{mutex_};
    auto at = channels_.find({from.get(), what.channel});
    if (at == channels_.end())
      return; // the stream was closed
    to = at->second;
  }
  port::tell(to, make_local<consumer_event>(block_arrived{from, std::move(what)}));
}

void link_pool::closed(const std::shared_ptr<link>& from, const status& why) {
  std::vector<consumer_handle> concerned;
  {
    std::lock_guard lock{mutex_};
    std::erase_if(links_, [&](const auto& entry) { return entry.second.made == from; });
    std::erase_if(channels_, [&](const auto& entry) {
      if (entry.first.first != from.get())
        return false;
      concerned.push_back(entry.second);
      return true;
    });
  }
  const auto event = make_local<consumer_event>(link_lost{from, why});
  for (const auto& who : concerned) port::tell(who, event);
}

} // namespace headrace::detail
