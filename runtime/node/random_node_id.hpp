#pragma once

#include "headrace/runtime/caf/port.hpp"

namespace headrace::detail {

/// Gives each actor system that is made with `config` a random name.
///
/// Release 0.17 of CAF would derive the name from process id, network cards and disk, and from a
/// count of the process's systems in one byte. So the 257th system of a process would have the name
/// of the first, and processes in similar containers on several hosts could have the same names.
/// Systems with the same name cannot connect to each other.
void name_at_random(caf::actor_system_config& config);

} // namespace headrace::detail
