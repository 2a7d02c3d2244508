#pragma once

#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/link/link_liveness.hpp"

#include <optional>

namespace headrace::detail {

/// The interval of heartbeats for a lease of this length. It is `asked`; if `asked` is unset, it is
/// a second, or a quarter of the lease if that is less. Throws `error` (invalid_argument) if two
/// heartbeats do not fit into the lease, because a single late message would let the lease expire.
duration heartbeat_for(std::optional<duration> asked, duration lease);
/// As above, for workers and for trainers, whose time limit is `jobs.client_timeout`: the interval
/// is short enough for both. Throws also for invalid times in `jobs`.
duration heartbeat_for(std::optional<duration> asked, duration lease, const job_terms& jobs);

/// The settings by which the ends of a data link detect that the other end no longer works, in a
/// service with this lease: a link is closed after a silence as long as a worker's lease, in which
/// five pings are sent. The result is within the bounds of `link_liveness` for any positive lease.
link_liveness liveness_for(duration lease);

} // namespace headrace::detail
