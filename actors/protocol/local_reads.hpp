#pragma once

#include "headrace/actors/protocol/deployment_mode.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

/// Decides which consumers read from which workers. A job runs tasks only on workers from which one
/// of its readers reads, and a consumer opens streams only to workers from which it reads.

/// The tag of a worker that serves only its own process. The case of its letters does not matter.
inline constexpr std::string_view colocated_tag = "COLOCATED";
bool is_colocated(const std::vector<std::string>& tags);

/// The location of a worker, for its readers.
struct worker_seat {
  /// The place of the worker's process; zero if even consumers in that process need a socket.
  uint64_t place = 0;
  bool colocated = false; ///< the worker serves only consumers in its process
  friend bool operator==(const worker_seat&, const worker_seat&) = default;
};
worker_seat seat_of(const worker_info& who);

/// True if a consumer in the process `place` (zero: unknown) reads from that worker.
bool may_read(target_workers targets, const worker_seat& worker, uint64_t place);

/// The workers from which a job's readers read: LOCAL if `asked` is AUTO, `mode` is static and the
/// deployment is COLOCATED; else `asked`. An AUTO that is returned has the effect of ANY.
target_workers resolved(target_workers asked, sharding_policy mode, deployment_mode deployment);

/// Decides which consumers read from a job's tasks.
struct reading_rule {
  target_workers targets = target_workers::automatic; ///< as `resolved` returns them
  /// The job has one reader, and ends when that reader has read everything from the workers that it
  /// can reach.
  bool alone = false;
  /// Not zero: coordinated reads by this many consumers.
  uint32_t num_consumers = 0;
  friend bool operator==(const reading_rule&, const reading_rule&) = default;
};

} // namespace headrace::detail
