#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

namespace headrace::detail {

/// Raises the soft limit of this process's descriptors (RLIMIT_NOFILE) to the hard limit, but at
/// most to `most_descriptors`. It is raised because the usual soft limit, 1024, is meant for
/// programs that use select(). Programs that this process starts later inherit the limit. Returns
/// the limit in force.
size_t raise_descriptor_limit() noexcept;
inline constexpr size_t most_descriptors = size_t{1} << 20;

/// The number of descriptors that this process may have.
size_t descriptor_limit() noexcept;

/// True if all descriptor numbers below half of the limit are in use, or the process or the system
/// has no free descriptor. One free number in the lower half makes the result false, even if more
/// than half of all numbers are in use, because the next descriptor gets the lowest free number.
/// Costs three system calls. `any` is an open descriptor.
bool lower_half_of_descriptors_taken(int any) noexcept;

/// The time limit of a repeated call, and the pauses between its attempts, which double.
struct descriptor_patience {
  duration in_all = std::chrono::seconds{10};
  duration first_pause = std::chrono::milliseconds{1};
  duration longest_pause = std::chrono::milliseconds{500};
};

/// Calls `attempt`, and repeats the call, with growing pauses, while it returns -1 with `errno`
/// EMFILE or ENFILE: the process or the system has no free descriptor, but one may be freed. Ends
/// after `patience.in_all`, or when `stop` is requested. Returns the last result, with its `errno`.
int with_descriptors(const std::function<int()>& attempt, const std::stop_token& stop = {},
                     const descriptor_patience& patience = {});

/// Calls open(2) with O_CLOEXEC by way of `with_descriptors`. Returns -1, with `errno`, on an
/// error.
int open_patiently(const std::string& path, int flags, const std::stop_token& stop = {});

} // namespace headrace::detail
