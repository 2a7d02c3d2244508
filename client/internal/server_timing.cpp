#include "headrace/client/internal/server_timing.hpp"

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/runtime/base/duration_text.hpp"
#include "headrace/runtime/base/result.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// Throws `error` if the lease is longer than workers and consumers accept.
void check_lease(duration lease) {
  if (lease > longest_lease)
    throw error{invalid_argument(fmt::format(
      "lease is {}; it must be at most an hour: so long would the work of a lost worker "
      "wait",
      milliseconds_text(lease)))};
}

/// The interval of heartbeats, of which two must fit into `limit`: `asked`, or the default. `name`:
/// the name of the limit; `who`: the members that send the heartbeats; both are for messages.
duration fitting(std::optional<duration> asked, duration limit, const char* name, const char* who) {
  if (limit <= duration::zero())
    throw error{invalid_argument(
      fmt::format("{} is {}; it must be longer than nothing", name, milliseconds_text(limit)))};
  const auto out =
    asked.value_or(std::clamp<duration>(limit / 4, duration{1}, std::chrono::seconds{1}));
  if (out <= duration::zero())
    throw error{invalid_argument(
      fmt::format("heartbeat is {}; it must be longer than nothing", milliseconds_text(out)))};
  if (limit / 2 < out)
    throw error{invalid_argument(fmt::format(
      "{0} is {1} and heartbeat is {2}; the {0} must be at least twice the heartbeat, or {3} would "
      "die of one late message",
      name, milliseconds_text(limit), milliseconds_text(out), who))};
  return out;
}

} // namespace

duration heartbeat_for(std::optional<duration> asked, duration lease) {
  check_lease(lease);
  return fitting(asked, lease, "lease", "workers");
}

duration heartbeat_for(std::optional<duration> asked, duration lease, const job_terms& jobs) {
  check_lease(lease);
  if (jobs.gc_timeout && *jobs.gc_timeout < duration::zero())
    throw error{invalid_argument(fmt::format("job_gc_timeout is {}; it must be 0 or more, or none",
                                             milliseconds_text(*jobs.gc_timeout)))};
  if (jobs.gc_check_interval <= duration::zero())
    throw error{
      invalid_argument(fmt::format("job_gc_check_interval is {}; it must be longer than nothing",
                                   milliseconds_text(jobs.gc_check_interval)))};
  return std::min(fitting(asked, lease, "lease", "workers"),
                  fitting(asked, jobs.client_timeout, "client_timeout", "trainers"));
}

link_liveness liveness_for(duration lease) {
  constexpr duration shortest = std::chrono::milliseconds{1};
  const auto every = std::clamp<duration>(lease / 5, shortest, longest_ping_interval);
  return {.ping_every = every, .silent_for = std::max(lease, 2 * every)};
}

} // namespace headrace::detail
