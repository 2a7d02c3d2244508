#pragma once

/// The messages of a node's connector, which are sent only inside a process.

#include "headrace/runtime/message/local.hpp"
#include "headrace/runtime/node/caf_connect.hpp"

namespace headrace::detail {

/// Requests a connection after `delay`. The answer is the connection, or an error.
struct connect_request {
  address to;
  duration delay = duration::zero();
  duration limit = std::chrono::seconds{5};
  greeting how = greeting::once;
};
/// The time limit for the answer of the connector. The connector itself observes the limit of the
/// request, so this larger limit is reached only if the connector has a defect.
inline caf::timespan patience(const connect_request& x) {
  return caf::timespan{x.delay + x.limit + std::chrono::seconds{10}};
}
struct connect_step; ///< a message of the connector to itself

} // namespace headrace::detail

CAF_BEGIN_TYPE_ID_BLOCK(headrace_node, headrace::detail::node_first_type_id)
CAF_ADD_TYPE_ID(headrace_node, (headrace::local<headrace::detail::connect_request>))
CAF_ADD_TYPE_ID(headrace_node, (headrace::local<headrace::detail::connection>))
CAF_ADD_TYPE_ID(headrace_node, (headrace::local<headrace::detail::connect_step>))
CAF_END_TYPE_ID_BLOCK(headrace_node)

namespace headrace::detail {

void register_node_types(caf::actor_system_config& config);

/// Connects on behalf of actors, so that no actor blocks. Each node has one connector; tests
/// replace it.
using connector_actor = port::handle<caf::result<local<connection>>(local<connect_request>)>;
connector_actor connector_of(node& x);

} // namespace headrace::detail
