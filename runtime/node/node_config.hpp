#pragma once

#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/node/node_options.hpp"

namespace headrace::detail {

/// The name that must be equal in two programs so that they can connect. It contains the release
/// line of the framework, because programs with different release lines cannot connect.
std::string_view framework_name() noexcept;

/// Configures an actor system for a node: message types, networking, heartbeats, TLS. Programs that
/// lend their system to a node call this function directly. @pre the TLS files passed `check_tls`.
void configure_network(caf::actor_system_config& config, const node_options& options);
/// As `configure_network`, and also configures the scheduler: for a node's own system.
void configure(caf::actor_system_config& config, const node_options& options);

} // namespace headrace::detail
