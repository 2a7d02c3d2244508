#pragma once

#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/node/node_options.hpp"

namespace headrace {

/// What two programs must have in common to connect: the framework's release line.
std::string_view framework_name() noexcept;

/// Sets up an actor system as a node needs it: message types, networking, heartbeats, the
/// scheduler, TLS. For a node's own system, and for programs that lend theirs to a node.
/// @pre the TLS files passed `check_tls`.
void configure(caf::actor_system_config& config, const node_options& options);

} // namespace headrace
