#pragma once

#include "headrace/runtime/base/clock.hpp"

namespace headrace {

/// A longer lease is taken for an error.
inline constexpr std::chrono::hours longest_lease{1};

/// How often members of a service report that they are alive, and for how long a report holds. The
/// dispatcher chooses both for all.
struct lease_timing {
  duration heartbeat = std::chrono::seconds{1};
  duration lease = std::chrono::seconds{5};
  friend bool operator==(const lease_timing&, const lease_timing&) = default;
};

/// After a link was cut its two ends go by their own clocks. A consumer counts on its lease for
/// `trusted` since the last answer of its job, and hands out nothing more then. A task gives that
/// consumer's rows to others only after `fenced`. So no row is handed out by two.
constexpr duration trusted(duration lease) { return lease - lease / 5; }
constexpr duration fenced(duration lease) { return lease + lease / 4; }

} // namespace headrace
