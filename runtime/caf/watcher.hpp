#pragma once

#include "headrace/runtime/caf/port.hpp"

#include <map>

namespace headrace::port {

/// Calls back when watched actors end. An actor state owns at most one, as its member, and lends it
/// to its parts; nothing else may install a down handler.
class watcher {
public:
  using callback = std::function<void(const caf::error&)>;
  /// Names one watch, never 0.
  using token = uint64_t;

  explicit watcher(caf::scheduled_actor* self);
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Calls `on_down` once, from this actor, with the reason (none: it ended normally). An actor
  /// that has ended already is reported at once, by a message.
  template <class Handle>
  token watch(const Handle& whom, callback on_down) {
    return add(caf::actor_cast<caf::actor>(whom), std::move(on_down));
  }
  /// Undoes a watch; nothing if it has called already.
  void forget(token id);
  /// How many watches have neither called nor been undone.
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
