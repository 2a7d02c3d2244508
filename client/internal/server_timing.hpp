#pragma once

#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/link/link_liveness.hpp"

#include <optional>

namespace headrace {

/// The interval of heartbeats for a lease of this length: `asked`, or a second, and at least four
/// times a lease. Throws `error` (invalid_argument) if the lease has no room for two heartbeats, as
/// a single late message would end it.
duration heartbeat_for(std::optional<duration> asked, duration lease);
/// As above, also for clients with a time-out of their own. Throws also if times of `jobs` are not
/// positive.
duration heartbeat_for(std::optional<duration> asked, duration lease, const job_terms& jobs);

/// How the ends of a data link detect that the other is gone, in a service with this lease: a link
/// counts as dead after a silence as long as a worker's lease, in which five pings are sent. The
/// result is within the bounds of `link_liveness` for any positive lease.
link_liveness liveness_for(duration lease);

} // namespace headrace
