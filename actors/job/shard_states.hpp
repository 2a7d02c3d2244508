#pragma once

#include "headrace/actors/job/iteration.hpp"

namespace headrace {

/// How far a shard of a static policy is in one repetition.
enum class shard_state : uint8_t {
  unserved, ///< no task for it runs: its worker has not come, or is gone
  served,   ///< a task for it starts or runs
  done,     ///< a task has given all of it
};

/// Of each of `shards` shards, by the tasks that there were for them. Whoever begins a shard reads
/// it from its beginning: only a task that came to its end by itself makes it done.
std::vector<shard_state> states_of_shards(const std::map<task_id, iteration::task>& tasks,
                                          uint32_t shards);

} // namespace headrace
