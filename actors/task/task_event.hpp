#pragma once

#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/task/split_log.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The runner's thread has left rows or commands for the actor in the task's memory, or the core
/// now has a deadline before the time for which the actor's alarm is set.
struct work_left {};

/// The runner has produced `rows` rows in total, including skipped ones, and no later row will
/// descend from `splits`.
struct run_done {
  uint64_t run = 0; ///< the number of the runner
  uint64_t rows = 0;
  std::vector<splits_done> splits;
};

/// The pipeline has ended, or could not be made.
struct run_ended {
  uint64_t run = 0;
  status how;
};

/// The runner waits for splits or has closed a pass, or the task sends an account.
struct splits_wanted {
  uint64_t run = 0;
  splits_wish wish;
};

/// A message arrived on one of the task's streams.
struct stream_arrived {
  std::shared_ptr<link> from;
  link_message what;
};

/// A link of the task's streams is closed.
struct stream_cut {
  std::shared_ptr<link> from;
};

/// The job's answer to a question for splits.
struct splits_answered {
  split_question which;
  result<lease_answer> what;
};

/// The worker leaves: the task is to finish the splits that were begun, and give back the others.
struct worker_leaves {};

/// The job no longer needs the task.
struct task_stops {
  std::string reason;
};

/// The readers of the task have changed.
struct readers_named {
  task_readers who;
};

/// Other tasks of the worker may have made room in the budget of the windows.
struct room_came {};

/// The messages to a task actor from its own process.
using task_event =
  std::variant<work_left, run_done, run_ended, splits_wanted, splits_answered, stream_arrived,
               stream_cut, worker_leaves, task_stops, readers_named, room_came>;

/// The message to a runner's actor from the runner's thread: the runner has ended. `why` is ok for
/// a normal end.
struct runner_over {
  status why;
};

/// The progress of a task, for its worker's heartbeat.
struct task_numbers {
  uint64_t elements = 0; ///< the number of elements that were produced
  /// The number of error rows that `ignore_errors` has left out.
  uint64_t ignored = 0;
  uint64_t bytes = 0;
  uint32_t streams = 0;
  uint32_t restarts = 0; ///< the number of restarts of its runner
  std::optional<cache_report> window = {};
};

/// A task's report to its worker.
struct task_report {
  task_id id;
  incarnation life;
  job_id job;
  task_numbers numbers;
  /// A question for splits, a closed pass or an account; the answer arrives as splits_answered.
  std::optional<splits_wanted> wants;
  /// Set if the task has ended; ok unless it failed.
  std::optional<status> ended = {};
  task_outcome outcome = task_outcome::exhausted;
  /// Set if the task leaves: the splits that it has not begun to read.
  std::optional<std::vector<unread_splits>> unread = {};
  /// The task is exhausted, and its pipeline ended before its sources did, so that other tasks may
  /// get more splits.
  bool by_itself = false;
  /// As `task_end::held`.
  std::map<consumer_id, reader_marks> held = {};
};

} // namespace headrace::detail
