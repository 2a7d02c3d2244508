#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/job_description.hpp"

#include <functional>
#include <vector>

namespace headrace {

/// What a job leaves that has no actor any more.
struct job_remains {
  std::vector<placed_task> running; ///< tasks at workers
  job_past past;                    ///< repetitions that are over
  bool collected = false; ///< it ended as nobody read it, with a repetition that was not finished
};

/// What outlives the actors of one job: each goes on where the one before it was.
struct job_keeper {
  /// Starts an actor. `present`: the workers that are alive.
  std::function<job_handle(const std::vector<worker_change>& present)> start;
  /// As the last actor left it.
  std::function<job_remains()> left;
  /// The job is over, and that is stored: nobody goes on with it.
  std::function<void()> over;
};

/// How a dispatcher gets its jobs, of which it knows no more than their handles.
using job_factory = std::function<job_keeper(const job_description&)>;

} // namespace headrace
