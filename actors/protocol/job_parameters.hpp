#pragma once

#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// What all clients of one job must agree on. Whoever begins a job chooses it.
struct job_parameters {
  sharding_policy mode = sharding_policy::off;
  target_workers targets = target_workers::automatic;
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// Of coordinated reads; 0: any number, each for itself.
  uint32_t num_consumers = 0;
  /// Unset: the job has none.
  std::optional<cache_terms> cross_trainer_cache = {};
  friend bool operator==(const job_parameters&, const job_parameters&) = default;
};

/// Ok if who asks for `asked` may read the job `name`, which has `existing`; else invalid_argument,
/// with each parameter that differs: what the job has, and what the client asked for.
status may_share(const std::string& name, const job_parameters& existing,
                 const job_parameters& asked);

/// What else is to be known of who asks for a cross-trainer cache.
struct cache_request {
  bool named = false;      ///< it gives a job name
  bool infinite = false;   ///< the dataset has no end
  uint64_t repetition = 0; ///< that it asks for
};
/// Ok where the parameters ask for no cross-trainer cache, or for one that can be; else
/// invalid_argument or unimplemented, with the rule that is broken.
status can_cache(const job_parameters& asked, const cache_request& about);

/// What else is to be known of who asks for coordinated reads.
struct rounds_request {
  bool named = false;  ///< it gives a job name
  bool finite = false; ///< the dataset has an end
  uint32_t index = 0;
};
/// Ok where the parameters ask for no coordinated reads, or for some that can be; else
/// invalid_argument or unimplemented, with the rule that is broken.
status can_coordinate(const job_parameters& asked, const rounds_request& about);

} // namespace headrace
