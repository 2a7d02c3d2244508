#include "headrace/runtime/message/types.hpp"

namespace headrace {

bool announce_runtime_types() { return port::announce<caf::id_block::headrace_runtime>(); }

} // namespace headrace
