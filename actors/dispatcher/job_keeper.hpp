#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/job_description.hpp"

#include <functional>
#include <vector>

namespace headrace {

/// What outlives the actors of one job: each goes on where the one before it was.
struct job_keeper {
  /// Starts an actor. `present`: the workers that are alive.
  std::function<job_handle(const std::vector<worker_change>& present)> start;
  /// The tasks that workers run for the job, as the last actor left them.
  std::function<std::vector<placed_task>()> running;
  /// The job is over, and that is stored: nobody goes on with it.
  std::function<void()> over;
};

/// How a dispatcher gets its jobs, of which it knows no more than their handles.
using job_factory = std::function<job_keeper(const job_description&)>;

} // namespace headrace
