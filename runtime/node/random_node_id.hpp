#pragma once

#include "headrace/runtime/caf/port.hpp"

namespace headrace {

/// Gives each actor system of that configuration a random name among those that it talks to.
///
/// Release 0.17 would name it by process id, network cards and disk, and count the systems of a
/// process in one byte. After 256 of them two have the same name, and so have processes in like
/// containers on several hosts: such systems take each other for themselves, and cannot connect.
void name_at_random(caf::actor_system_config& config);

} // namespace headrace
