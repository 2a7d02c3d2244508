#pragma once

#include "headrace/runtime/caf/port.hpp"

#include <map>

namespace headrace::port {

/// Calls a callback when a watched actor ends. An actor's state has at most one watcher, as a
/// member, which all parts of the state use; the actor must have no other down handler.
class watcher {
public:
  using callback = std::function<void(const caf::error&)>;
  /// Identifies a watch; never 0.
  using token = uint64_t;

  explicit watcher(caf::scheduled_actor* self);
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Calls `on_down` once, in this actor, with the reason (none: the watched actor ended normally).
  /// If that actor has ended already, the call is made when this actor handles a later message.
  template <class Handle>
  token watch(const Handle& whom, callback on_down) {
    return add(caf::actor_cast<caf::actor>(whom), std::move(on_down));
  }
  /// Cancels a watch. Does nothing if its callback was called already.
  void forget(token id);
  /// The number of watches whose callbacks were neither called nor cancelled.
  size_t size() const noexcept;

private:
  token add(const caf::actor& whom, callback on_down);

  caf::scheduled_actor* self_;
  token last_ = 0;
#if HEADRACE_CAF_LEGACY
  callback take(token id);
  void on_down(const caf::down_msg& what);

  std::map<caf::actor_addr, std::map<token, callback>> watched_;
  std::map<token, caf::actor_addr> where_;
#else
  std::map<token, caf::disposable> watched_;
#endif
};

} // namespace headrace::port
