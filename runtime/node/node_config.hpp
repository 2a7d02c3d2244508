#pragma once

#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/node/node_options.hpp"

namespace headrace {

/// What two programs must have in common to connect: the framework's release line.
std::string_view framework_name() noexcept;

/// Sets up what a node needs of an actor system: message types, networking, heartbeats, TLS. For
/// programs that lend theirs to a node. @pre the TLS files passed `check_tls`.
void configure_network(caf::actor_system_config& config, const node_options& options);
/// The same and the scheduler: for a node's own system.
void configure(caf::actor_system_config& config, const node_options& options);

} // namespace headrace
