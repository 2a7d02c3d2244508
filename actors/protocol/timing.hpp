#pragma once

#include "headrace/runtime/base/clock.hpp"

namespace headrace {

/// A longer lease than this is taken for an error.
inline constexpr std::chrono::hours longest_lease{1};

/// How often members of a service say that they live, and for how long that holds. The dispatcher
/// chooses it for all.
struct lease_timing {
  duration heartbeat = std::chrono::seconds{1};
  duration lease = std::chrono::seconds{5};
  friend bool operator==(const lease_timing&, const lease_timing&) = default;
};

} // namespace headrace
