#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/node/system_visit.hpp"

namespace headrace::detail {

/// The actor system of a node. Threads that do not belong to the system use it inside a
/// `system_visit`.
caf::actor_system& system_of(node& x);

/// Makes a node in a program that already has an actor system. The system must have been configured
/// with `configure_network` or `configure` (node_config.hpp) for the same options, and must outlive
/// the node. Throws `error` as the constructor of `node` does.
std::unique_ptr<node> make_node_in(caf::actor_system& system, node_options options);

/// Publishes `root` on the node's actor port, so that peers can connect to it. A door actor answers
/// hellos, counts and answers damaged messages, and delegates all other messages to `root`. `root`
/// and the door end with the node. If `root` ends earlier, the door ends, too, and peers detect it;
/// then another actor may be published on this port. Returns the port. Errors: the port is in use,
/// the address does not belong to this host, or the options do not allow it (`check_exposure`).
result<uint16_t> listen(node& x, published_actor root);

/// Makes the node end `whom` when the node ends. This is needed because the actor system ends after
/// the node, and then waits for all actors.
void adopt(node& x, caf::actor whom);

} // namespace headrace::detail
