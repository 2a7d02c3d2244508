#include "headrace/runtime/node/connect_messages.hpp"

namespace headrace::detail {

void register_node_types(caf::actor_system_config& config) {
  port::register_types<caf::id_block::headrace_node>(config);
}

} // namespace headrace::detail
