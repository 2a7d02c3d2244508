#include "headrace/runtime/caf/watcher.hpp"

namespace headrace::port {

#if HEADRACE_CAF_LEGACY

watcher::watcher(caf::scheduled_actor* self) : self_(self) {
  self_->set_down_handler([this](caf::down_msg& what) { on_down(what); });
}

void watcher::on_down(const caf::down_msg& what) {
  const auto ended = watched_.find(what.source);
  if (ended == watched_.end())
    return;
  // A callback may add and remove watches, so each watch is looked up just before it is called.
  std::vector<token> due;
  for (const auto& entry : ended->second) due.push_back(entry.first);
  for (auto id : due)
    if (auto call = take(id))
      call(what.reason);
}

watcher::token watcher::add(const caf::actor& whom, callback on_down) {
  const auto id = ++last_;
  auto& calls = watched_[whom.address()];
  if (calls.empty())
    self_->monitor(whom);
  calls.emplace(id, std::move(on_down));
  where_.emplace(id, whom.address());
  return id;
}

void watcher::forget(token id) {
  const auto address = where_.find(id);
  if (address == where_.end())
    return;
  const auto whom = address->second;
  take(id);
  if (!watched_.contains(whom))
    self_->demonitor(whom);
}

// Removes a watch and returns its callback. The result is empty if there is no such watch.
watcher::callback watcher::take(token id) {
  const auto address = where_.extract(id);
  if (address.empty())
    return nullptr;
  const auto calls = watched_.find(address.mapped());
  auto call = std::move(calls->second.extract(id).mapped());
  if (calls->second.empty())
    watched_.erase(calls);
  return call;
}

size_t watcher::size() const noexcept { return where_.size(); }

#else

watcher::watcher(caf::scheduled_actor* self) : self_(self) {}

watcher::token watcher::add(const caf::actor& whom, callback on_down) {
  const auto id = ++last_;
  watched_.emplace(
    id, self_->monitor(whom, [this, id, call = std::move(on_down)](const caf::error& why) {
      watched_.erase(id);
      call(why);
    }));
  return id;
}

void watcher::forget(token id) {
  if (auto slot = watched_.extract(id); !slot.empty())
    slot.mapped().dispose();
}

size_t watcher::size() const noexcept { return watched_.size(); }

#endif

} // namespace headrace::port
