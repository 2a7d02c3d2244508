#pragma once

#include "headrace/runtime/caf/port.hpp"

namespace headrace::detail {

/// Must exist while a thread that does not belong to the actor system spawns, publishes or uses a
/// `scoped_actor`. The framework leaves a reference to the system in such a thread, and the system
/// cannot end before the reference is removed; this object removes it. Harmless on the system's own
/// threads.
class system_visit {
public:
  system_visit() = default;
  system_visit(const system_visit&) = delete;
  system_visit& operator=(const system_visit&) = delete;
  ~system_visit() { leave(); }

  static void leave() noexcept {
#if HEADRACE_CAF_LEGACY
    caf::logger::set_current_actor_system(nullptr);
#endif
  }
};

} // namespace headrace::detail
