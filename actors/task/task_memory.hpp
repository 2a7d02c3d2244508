#pragma once

#include "headrace/actors/stream/compression_choice.hpp"
#include "headrace/actors/task/task_core.hpp"
#include "headrace/runtime/link/link.hpp"

#include <map>
#include <memory>
#include <utility>

namespace headrace::detail {

/// The part of a task that outlives its actor: its core, and the links of its streams. Owned by the
/// worker, used by one actor at a time.
struct task_memory {
  struct route {
    std::shared_ptr<link> over;
    uint32_t channel = 0;
    compression_choice packing;
  };

  explicit task_memory(task_core what) : core(std::move(what)) {}

  /// Reports on all streams that the task is given up because of `why`.
  void give_up(const status& why);

  task_core core;
  std::map<produce::stream_key, route> routes;
  std::map<std::pair<const link*, uint32_t>, produce::stream_key> by_channel;
  uint64_t last_key = 0;
};

} // namespace headrace::detail
