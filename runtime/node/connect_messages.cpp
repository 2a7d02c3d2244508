#include "headrace/runtime/node/connect_messages.hpp"

namespace headrace {

bool announce_node_types() { return port::announce<caf::id_block::headrace_node>(); }

} // namespace headrace
