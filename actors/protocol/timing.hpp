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

} // namespace headrace
