#pragma once

#include "headrace/actors/protocol/deployment_mode.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Which consumers read from which workers: asked by the job, which runs tasks only where somebody
/// reads them, and by the consumer, which opens streams to those alone.

/// The tag, in any case of letters, of a worker that serves only its own process.
inline constexpr std::string_view colocated_tag = "COLOCATED";
bool is_colocated(const std::vector<std::string>& tags);

/// Where a worker is, as far as its readers are concerned.
struct worker_seat {
  uint64_t place = 0;     ///< its process (process_place), if consumers there reach it; else zero
  bool colocated = false; ///< it serves nobody else
  friend bool operator==(const worker_seat&, const worker_seat&) = default;
};
worker_seat seat_of(const worker_info& who);

/// A consumer in the process `place` (zero: not known) reads from a worker there.
bool may_read(target_workers targets, const worker_seat& worker, uint64_t place);

/// What `asked` means for a job of this mode: AUTO under a static policy is LOCAL where workers run
/// in trainers' processes.
target_workers resolved(target_workers asked, sharding_policy mode, deployment_mode deployment);

/// Which consumers a job's tasks are for.
struct reading_rule {
  target_workers targets = target_workers::automatic; ///< resolved
  /// The job has one reader, for whom it is over when it has read what it can.
  bool alone = false;
  /// Not zero: coordinated reads, by so many.
  uint32_t num_consumers = 0;
  friend bool operator==(const reading_rule&, const reading_rule&) = default;
};

} // namespace headrace
