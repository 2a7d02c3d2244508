#pragma once

#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/task/split_log.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

/// The runner made rows.
struct rows_produced {
  uint64_t run = 0; ///< which of the task's runners
  block rows;
};

/// The runner has given so many rows, and is done with splits: nothing that comes later is made of
/// these.
struct run_done {
  uint64_t run = 0;
  uint64_t rows = 0;
  std::vector<splits_done> splits;
};

/// The runner is through: the pipeline ended, or could not be made.
struct run_ended {
  uint64_t run = 0;
  status how;
};

/// The runner needs splits and waits.
struct splits_wanted {
  uint64_t run = 0;
  splits_wish wish;
};

/// Something came over a link on the channel of one of the task's streams.
struct stream_arrived {
  std::shared_ptr<link> from;
  link_message what;
};

/// A link on which the task has streams is over.
struct stream_cut {
  std::shared_ptr<link> from;
};

/// The job's answer to a request for splits.
struct splits_answered {
  split_question which;
  result<lease_answer> what;
};

/// The worker ends: finish what was begun, and give back the rest.
struct worker_leaves {};

/// The job needs the task no more.
struct task_stops {
  std::string reason;
};

/// Who reads the task has changed.
struct readers_named {
  task_readers who;
};

/// Other tasks of the worker may have made room in the cache that they share.
struct room_came {};

/// What a task actor hears from its own process.
using task_event =
  std::variant<rows_produced, run_done, run_ended, splits_wanted, splits_answered, stream_arrived,
               stream_cut, worker_leaves, task_stops, readers_named, room_came>;

/// What a runner's actor hears from its thread: the runner is over, well or not.
struct runner_over {
  status why;
};

/// What a task is doing, for its worker's heartbeat.
struct task_numbers {
  uint64_t elements = 0; ///< produced
  uint64_t ignored = 0;  ///< failed, and left out by `ignore_errors`
  uint64_t bytes = 0;
  uint32_t streams = 0;
  uint32_t restarts = 0; ///< of its runner
  std::optional<cache_report> window = {};
};

/// What a task tells its worker.
struct task_report {
  task_id id;
  incarnation life;
  job_id job;
  task_numbers numbers;
  /// It wants splits; the answer goes to it as splits_answered.
  std::optional<splits_wanted> wants;
  /// It is through: well or not, and how.
  std::optional<status> ended = {};
  task_outcome outcome = task_outcome::exhausted;
  /// It leaves, and has not begun to read these.
  std::optional<std::vector<unread_splits>> unread = {};
  /// It ended, well, before its sources did: they say nothing of what others find.
  bool by_itself = false;
  /// Of a shared job: readers that have rows which they did not hand out.
  std::map<consumer_id, reader_marks> held = {};
};

} // namespace headrace
