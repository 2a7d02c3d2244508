#include "headrace/actors/messages.hpp"

namespace headrace::detail {

void register_actor_types(caf::actor_system_config& config) {
  port::register_types<caf::id_block::headrace_actors>(config);
}

} // namespace headrace::detail
