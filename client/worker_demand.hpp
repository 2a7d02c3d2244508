#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <optional>

namespace headrace {

/// How many workers a service should have, from what its trainers wait and what its workers do, and
/// not from the load of processors. It follows a growing demand within seconds and a shrinking one
/// after half a minute, so that it does not swing. Pure: it is given each status with its time.
class worker_demand {
public:
  struct options {
    uint32_t least = 1;
    uint32_t most = 1; ///< `>= least`
    /// How long a verdict is of workers that were just started or stopped.
    duration settling = std::chrono::seconds{8};
    /// How long fewer workers must have been enough.
    duration patience = std::chrono::seconds{30};
  };

  explicit worker_demand(options how) : how_(how) {}

  /// The number of workers that there should be, when there are `present` (alive, and not about to
  /// leave). To be called each second or so.
  uint32_t look(const service_status& now, uint32_t present, time_point at);
  /// The same for what `workers_needed` returns.
  uint32_t look(std::optional<uint32_t> needed, uint32_t present, time_point at);

private:
  options how_;
  std::optional<uint32_t> last_;    ///< the number of workers at the last call of `look`
  std::optional<time_point> since_; ///< when the number of workers changed
  std::optional<time_point> fewer_since_;
  /// The highest number of workers that were needed since `fewer_since_`.
  uint32_t most_needed_ = 0;
};

/// The number of workers of which the running jobs have need; nullopt: nothing is known, or the
/// number of workers is not what matters. No job runs: 0.
std::optional<uint32_t> workers_needed(const service_status& x);

} // namespace headrace
