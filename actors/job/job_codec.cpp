#include "headrace/actors/job/job_codec.hpp"

namespace headrace {

iteration_view view_of(const iteration& state, job_id job, bool shared,
                       const lease_timing& timing) {
  iteration_view out{
    .job = job,
    .repetition = state.repetition(),
    .version = state.version(),
    .finished = state.finished(),
    .shared = shared,
    .failure = state.failure(),
    .timing = timing,
  };
  for (const auto& [id, task] : state.tasks())
    if (task.state == iteration::task_state::running)
      out.tasks.push_back(
        {id, task.life, task.worker.data_address, task.worker.boot_id, task.worker.id});
    else if (task.state == iteration::task_state::lost)
      out.lost.push_back(id);
  return out;
}

} // namespace headrace
