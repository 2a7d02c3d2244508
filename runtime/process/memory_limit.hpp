#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>

namespace headrace::detail {

/// Bounds the private memory of this process (its heap, its threads' stacks, private mappings;
/// RLIMIT_DATA) for the rest of its life. When `new` fails, one line is written to standard error
/// and the process ends at once with `exit_code::memory_limit`, so that no allocation that a peer
/// causes can take all memory of the host. Children that are started later inherit the bound. Fails
/// if at least `bytes` of memory are in use already.
status set_memory_limit(uint64_t bytes);

/// The private memory in use, by the same count as the limit.
uint64_t private_memory_bytes();

} // namespace headrace::detail
