#pragma once

#include "headrace/actors/stream/compression.hpp"
#include "headrace/actors/stream/task_output.hpp"
#include "headrace/actors/task/split_log.hpp"
#include "headrace/actors/task/task_event.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <optional>

namespace headrace {

/// What of a task outlives its actor, so that the next one goes on where the last one was: what the
/// pipeline was given and gave, and who was dealt what. Kept by the worker, used by one actor at a
/// time.
struct task_memory {
  /// The way to one consumer.
  struct route {
    std::shared_ptr<link> over;
    uint32_t channel = 0;
    compression_choice packing;
    /// When a lost connection becomes a lost consumer.
    std::optional<time_point> gone_at;
  };

  explicit task_memory(bool shared) : output(shared) {}

  task_output output;
  split_log splits;
  bool replayable = true; ///< `splits` holds all that the task was given
  task_numbers numbers;   ///< without `ignored`
  /// Counted on the runner's threads, also while it gives no rows.
  const std::shared_ptr<std::atomic<uint64_t>> ignored = std::make_shared<std::atomic<uint64_t>>(0);
  std::map<consumer_id, route> routes;
  bool opened = false;    ///< somebody reads or has read: the pipeline runs
  bool exhausted = false; ///< the pipeline came to its end
  bool by_itself = false; ///< it did before its sources were exhausted
  bool leaving = false;   ///< it is to come to its end after what was begun
  /// Set while this is changed. If it stays so, an actor died half-way, and no other can go on.
  bool torn = false;

  /// What its worker tells of it.
  task_numbers told() const {
    auto out = numbers;
    out.ignored = ignored->load();
    return out;
  }
  /// Carries out `f`, which changes this.
  template <class F>
  auto change(F&& f) {
    torn = true;
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      torn = false;
    } else {
      auto out = f();
      torn = false;
      return out;
    }
  }
};

} // namespace headrace
