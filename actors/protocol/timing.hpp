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

/// Consumer and task count time by clocks of different speed. If their link is cut, the consumer
/// hands out nothing more once `trusted` has passed since its job's last answer. The task gives its
/// rows to others later: after `fenced` since the cut, and after the job has found it expired.
constexpr duration trusted(duration lease) { return lease - lease / 5; }
constexpr duration fenced(duration lease) { return lease + lease / 4; }

} // namespace headrace::detail
