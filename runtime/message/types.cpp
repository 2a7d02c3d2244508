#include "headrace/runtime/message/types.hpp"

namespace headrace::detail {

void register_runtime_types(caf::actor_system_config& config) {
  port::register_types<caf::id_block::headrace_runtime>(config);
}

} // namespace headrace::detail
