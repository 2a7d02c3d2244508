#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>

namespace headrace {

/// Bounds the private memory of this process (its heap, its threads' stacks, private mappings;
/// RLIMIT_DATA) for the rest of its life. When `new` cannot be served any more, one line goes to
/// standard error and the process ends at once with `exit_code::memory_limit`: nothing that a peer
/// makes it allocate can take the host down. Children started later inherit the bound.
/// Fails if `bytes` is less than what is in use already.
status set_memory_limit(uint64_t bytes);

/// Private memory in use now, in the limit's sense.
uint64_t private_memory_bytes();

} // namespace headrace
