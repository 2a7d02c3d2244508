#pragma once

#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace::detail {

/// The parameters on which all clients of one job must agree. The client that begins the job
/// chooses them.
struct job_parameters {
  sharding_policy mode = sharding_policy::off;
  target_workers targets = target_workers::automatic;
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// The number of consumers of coordinated reads; 0: no coordinated reads.
  uint32_t num_consumers = 0;
  /// Unset: the job has no cross-trainer cache.
  std::optional<cache_terms> cross_trainer_cache = {};
  friend bool operator==(const job_parameters&, const job_parameters&) = default;
};

/// the most bytes of a job's name
inline constexpr size_t longest_job_name = 1024;

/// invalid_argument: the name is too long. An empty name means an anonymous job.
status check_job_name(const std::string& name);

/// Ok if a client that requests `asked` may read the job `name`, whose parameters are `existing`.
/// Else invalid_argument, which names for each parameter that differs the value of the job and the
/// requested value.
status may_share(const std::string& name, const job_parameters& existing,
                 const job_parameters& asked);

/// Further properties of a request for a cross-trainer cache.
struct cache_request {
  bool named = false;      ///< the request names a job
  bool infinite = false;   ///< the dataset has no end
  uint64_t repetition = 0; ///< the requested repetition
};
/// Ok if the parameters include no cross-trainer cache, or one that is possible. Else
/// invalid_argument, with the rule that is broken.
status can_cache(const job_parameters& asked, const cache_request& about);

/// Further properties of a request for coordinated reads.
struct rounds_request {
  bool named = false;  ///< the request names a job
  bool finite = false; ///< the dataset has an end
  uint32_t index = 0;
};
/// Ok if the parameters include no coordinated reads, or possible ones. Else invalid_argument, with
/// the rule that is broken.
status can_coordinate(const job_parameters& asked, const rounds_request& about);

} // namespace headrace::detail
