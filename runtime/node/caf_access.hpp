#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace {

/// The actor system of a node.
caf::actor_system& system_of(node& x);

/// Publishes `root` on the node's actor port: peers that connect reach it. Their hellos are
/// answered for it, damaged messages are counted and answered, all else is delegated to it. It ends
/// with the node, and its peers hear when it ends; then another may be published on the same port.
/// Returns the port. Errors: the port is in use, or not an address of this host.
result<uint16_t> listen(node& x, published_actor root);

/// Ends `whom` when the node ends (before its system does, which waits for all actors).
void adopt(node& x, caf::actor whom);

} // namespace headrace
