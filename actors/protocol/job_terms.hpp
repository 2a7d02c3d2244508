#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <optional>

namespace headrace {

/// How long a service keeps the state of clients that are silent or gone.
struct job_terms {
  /// A reader that sends nothing for this time is no longer a reader, even if no other reader
  /// waits.
  duration client_timeout = std::chrono::minutes{2};
  /// An unfinished repetition of a named job is collected when it has had no readers for this
  /// time; nullopt: never.
  std::optional<duration> gc_timeout = std::chrono::minutes{5};
  /// How often a job checks whether it has repetitions to collect.
  duration gc_check_interval = std::chrono::minutes{10};
  /// True: repetitions under DYNAMIC are collected, too. A client that comes back reads the
  /// elements of such a repetition again from the beginning.
  bool gc_dynamic_sharding_jobs = false;
  friend bool operator==(const job_terms&, const job_terms&) = default;
};

/// The timing for readers: their lease is no longer than the client time-out.
inline lease_timing reader_timing(lease_timing timing, const job_terms& terms) {
  timing.lease = std::min(timing.lease, terms.client_timeout);
  return timing;
}

} // namespace headrace
