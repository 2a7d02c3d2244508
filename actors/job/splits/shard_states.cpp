#include "headrace/actors/job/splits/shard_states.hpp"

#include <algorithm>

namespace headrace::detail {

std::vector<shard_state> states_of_shards(const std::map<task_id, iteration::task>& tasks,
                                          uint32_t shards) {
  std::vector<shard_state> out(shards, shard_state::unserved);
  for (const auto& [id, task] : tasks) {
    if (!task.worker.shard || *task.worker.shard >= shards)
      continue;
    auto& now = out[*task.worker.shard];
    if (task.state == iteration::task_state::ended)
      now = shard_state::done;
    else if (task.alive())
      now = std::max(now, shard_state::served);
  }
  return out;
}

} // namespace headrace::detail
