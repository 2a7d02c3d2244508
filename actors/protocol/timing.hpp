#pragma once

#include "headrace/runtime/base/clock.hpp"

namespace headrace {

/// A longer lease is refused with an error.
inline constexpr std::chrono::hours longest_lease{1};

/// How often members of a service report that they are alive, and for how long such a report is
/// valid. The dispatcher chooses both for all members.
struct lease_timing {
  duration heartbeat = std::chrono::seconds{1};
  duration lease = std::chrono::seconds{5};
  friend bool operator==(const lease_timing&, const lease_timing&) = default;
};

} // namespace headrace

namespace headrace::detail {

/// After a link was cut, its two ends use their own clocks. A consumer relies on its lease for
/// `trusted` after the last answer of its job, and then hands out nothing. The task deals that
/// consumer's rows to others when `fenced` has passed since the cut. So no row is handed out twice.
constexpr duration trusted(duration lease) { return lease - lease / 5; }
constexpr duration fenced(duration lease) { return lease + lease / 4; }

} // namespace headrace::detail
