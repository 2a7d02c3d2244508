#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// How much memory this process may have: that of the machine, or what its control group or
/// RLIMIT_DATA leaves of it, whichever is least.
uint64_t memory_size_bytes();

namespace detail {

/// The least of the limits that control groups set, from the one that `membership` (as in
/// /proc/self/cgroup) names up to the root: of version 2 below `root`, of version 1 below
/// `root`/memory. UINT64_MAX: there is none.
uint64_t control_group_limit(const std::string& membership, const std::string& root);

} // namespace detail
} // namespace headrace
