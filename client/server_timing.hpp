#pragma once

#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/link/link_liveness.hpp"

#include <optional>

namespace headrace {

/// How often those that hold a lease of this length are to speak: as `asked`, or each second, and
/// at least four times a lease. Throws `error` (invalid_argument) if a lease has not room for two,
/// as one late message would end it.
duration heartbeat_for(std::optional<duration> asked, duration lease);
/// The same where clients have a time-out of their own, for which it holds, too. Throws as well for
/// times of `jobs` that are no lengths.
duration heartbeat_for(std::optional<duration> asked, duration lease, const job_terms& jobs);

/// How the ends of a data link find out that the other is gone, in a service with this lease: a
/// link counts as dead after as long a silence as a worker, and carries five pings in that time.
/// What `link_liveness` bounds stays in its bounds, with any positive lease.
link_liveness liveness_for(duration lease);

} // namespace headrace
