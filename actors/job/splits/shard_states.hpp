#pragma once

#include "headrace/actors/job/iteration.hpp"

namespace headrace::detail {

/// The state of one shard of a static policy in one repetition.
enum class shard_state : uint8_t {
  unserved, ///< no task for it starts or runs, and none has read it to its end
  served,   ///< a task for it starts or runs
  done,     ///< a task has given all of its elements
};

/// The states of all `shards` shards. A new task reads its shard from the beginning, so a shard is
/// done only when one task has read it to its end.
std::vector<shard_state> states_of_shards(const std::map<task_id, iteration::task>& tasks,
                                          uint32_t shards);

} // namespace headrace::detail
