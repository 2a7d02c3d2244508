#include "headrace/actors/messages.hpp"

namespace headrace {

bool announce_actor_types() { return port::announce<caf::id_block::headrace_actors>(); }

} // namespace headrace
