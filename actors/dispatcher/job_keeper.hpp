#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/protocol/job_description.hpp"

#include <functional>
#include <vector>

namespace headrace::detail {

/// The state of a job whose actor has ended.
struct job_remains {
  std::vector<placed_task> running; ///< tasks that workers run
  job_past past;                    ///< finished repetitions
  bool collected = false;           ///< a repetition was collected, and has not begun again
};

/// The part of a job that outlives its actors. Each actor continues where the previous one stopped.
struct job_keeper {
  /// Starts an actor. `present`: the workers that are alive.
  std::function<job_handle(const std::vector<worker_change>& present)> start;
  /// Returns the state that the last actor left.
  std::function<job_remains()> left;
  /// Deletes the state of the job. To be called when the job is over, after the dispatcher has
  /// appended this fact to its store.
  std::function<void()> over;
};

/// Makes a job. The dispatcher uses jobs only through this interface.
using job_factory = std::function<job_keeper(const job_description&)>;

} // namespace headrace::detail
