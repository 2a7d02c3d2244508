#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/node/node_options.hpp"

namespace headrace::detail {

/// The options of a node in a service, with the message types of the service's actors.
inline node_options service_node(node_role role, const tls_options& tls = {}) {
  node_options out;
  out.role = role;
  out.tls = tls;
  out.message_types = register_actor_types;
  return out;
}

} // namespace headrace::detail
