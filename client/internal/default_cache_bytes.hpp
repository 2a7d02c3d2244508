#pragma once

#include "headrace/runtime/process/memory_size.hpp"

#include <algorithm>

namespace headrace::detail {

/// The default bound of one worker's cross-trainer cache, in bytes: the caches of the `workers` of
/// this process share a quarter of its memory.
inline uint64_t default_cache_bytes(int workers) {
  return memory_size_bytes() / 4 / static_cast<uint64_t>(std::max(workers, 1));
}

} // namespace headrace::detail
