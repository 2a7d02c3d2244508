#pragma once

#include "headrace/runtime/caf/port.hpp"

namespace headrace {

/// While a thread that is not the actor system's own spawns, publishes or uses a `scoped_actor`, it
/// is inside one of these. The framework leaves a reference to the system in such a thread, and a
/// system cannot end before it is gone; this takes it away. Harmless on the system's own threads.
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

} // namespace headrace
