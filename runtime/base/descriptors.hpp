#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

namespace headrace {

/// Raises the soft limit of this process's descriptors (RLIMIT_NOFILE) to the hard one, at most to
/// `most_descriptors`: the usual soft limit, 1024, is for programs that use select(). Programs
/// started later inherit it. Returns the limit in force.
size_t raise_descriptor_limit() noexcept;
inline constexpr size_t most_descriptors = size_t{1} << 20;

/// How many descriptors this process may have.
size_t descriptor_limit() noexcept;

/// Whether half of the descriptors are taken, so far as the lowest free one tells: with holes below
/// it is more than half that may be in use, but never is the upper half taken by who asks this
/// first. Costs three system calls. `any` is an open descriptor.
bool half_of_descriptors_taken(int any) noexcept;

/// How long and how often to try again.
struct descriptor_patience {
  duration in_all = std::chrono::seconds{10};
  duration first_pause = std::chrono::milliseconds{1};
  duration longest_pause = std::chrono::milliseconds{500};
};

/// Calls `attempt` until it gives something else than -1 with `errno` EMFILE or ENFILE (the process
/// or the system is out of descriptors, which others may give back), with growing pauses, at most
/// for a bounded time or until `stop`. Returns what it gave last, with its `errno`.
int with_descriptors(const std::function<int()>& attempt, const std::stop_token& stop = {},
                     const descriptor_patience& patience = {});

/// open(2) with O_CLOEXEC and that patience. -1: see `errno`.
int open_patiently(const std::string& path, int flags, const std::stop_token& stop = {});

} // namespace headrace
