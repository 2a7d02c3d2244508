#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/job_description.hpp"

#include <functional>
#include <vector>

namespace headrace {

/// The remains of a job that has no actor any more.
struct job_remains {
  std::vector<placed_task> running; ///< tasks that workers run
  job_past past;                    ///< finished repetitions
  bool collected = false; ///< the job ended with an unfinished repetition that nobody read
};

/// The part of a job that outlives its actors: each actor continues where the one before it
/// stopped.
struct job_keeper {
  /// Starts an actor. `present`: the workers that are alive.
  std::function<job_handle(const std::vector<worker_change>& present)> start;
  /// The state that the last actor left.
  std::function<job_remains()> left;
  /// The job is over, and the dispatcher has stored that: its state may be deleted.
  std::function<void()> over;
};

/// Makes a job. The dispatcher knows jobs by their handles only.
using job_factory = std::function<job_keeper(const job_description&)>;

} // namespace headrace
