#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <optional>

namespace headrace {

/// How long a service keeps what clients left, or do not speak for any more.
struct job_terms {
  /// How long a client that is not heard of keeps its place, while nobody waits for what it holds.
  duration client_timeout = std::chrono::minutes{2};
  /// A repetition of a named job that is not finished is collected when nobody has read it for so
  /// long; nullopt: never.
  std::optional<duration> gc_timeout = std::chrono::minutes{5};
  /// How often that is looked at.
  duration gc_check_interval = std::chrono::minutes{10};
  /// Those under DYNAMIC, too: who comes back to one reads its elements again from the beginning.
  bool gc_dynamic_sharding_jobs = false;
  friend bool operator==(const job_terms&, const job_terms&) = default;
};

/// What clients are told: their lease ends no later than their time-out.
inline lease_timing reader_timing(lease_timing timing, const job_terms& terms) {
  timing.lease = std::min(timing.lease, terms.client_timeout);
  return timing;
}

} // namespace headrace
