#pragma once

#include <cstdint>
#include <string>

namespace headrace::detail {

/// The memory that this process may use: the least of the machine's memory, the limit of the
/// process's control group, and RLIMIT_DATA.
uint64_t memory_size_bytes();

/// The least limit of the control groups from the groups in `membership` (in the format of
/// /proc/self/cgroup) up to the root. The files of version 2 are below `root`, and the files of
/// version 1 below `root`/memory. UINT64_MAX: there is no limit.
uint64_t control_group_limit(const std::string& membership, const std::string& root);

} // namespace headrace::detail
