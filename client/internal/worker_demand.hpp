#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <optional>

namespace headrace::detail {

/// Computes the number of workers that a service should have, from the waits of its trainers and
/// the activity of its workers, and not from the load of processors. The number increases within
/// seconds and decreases after half a minute, so that it does not oscillate. The class reads
/// neither the status nor a clock: its caller passes each status with the time.
class worker_demand {
public:
  struct options {
    uint32_t least = 1;
    uint32_t most = 1; ///< `>= least`
    /// How long verdicts are ignored after workers were started or stopped: they may be outdated.
    duration settling = std::chrono::seconds{8};
    /// The time for which fewer workers must have been enough before the number decreases.
    duration patience = std::chrono::seconds{30};
  };

  explicit worker_demand(options how) : how_(how) {}

  /// The number of workers that should run, when `present` workers run (alive, and not about to
  /// leave). To be called about once a second.
  uint32_t look(const service_status& now, uint32_t present, time_point at);
  /// As above, with the result of `workers_needed`.
  uint32_t look(std::optional<uint32_t> needed, uint32_t present, time_point at);

private:
  options how_;
  std::optional<uint32_t> last_;    ///< the number of workers at the last call of `look`
  std::optional<time_point> since_; ///< the time at which `last_` changed
  std::optional<time_point> fewer_since_;
  /// The highest number of workers that were needed since `fewer_since_`, the time from which on
  /// fewer workers were needed than ran.
  uint32_t most_needed_ = 0;
};

/// The number of workers that the running jobs with trainers need, 0 if there is no such job;
/// nullopt: it is unknown. A job for which more workers would not help needs as many as run it now.
std::optional<uint32_t> workers_needed(const service_status& x);

} // namespace headrace::detail
