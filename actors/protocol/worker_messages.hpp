#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/actors/protocol/split_question.hpp"
#include "headrace/actors/protocol/task_outcome.hpp"
#include "headrace/actors/protocol/timing.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Messages between workers and the dispatcher or its jobs, as plain structs.

/// The readers of a task, as its job names them. A consumer that is no longer named is gone.
struct task_readers {
  task_id task;
  uint64_t version = 0; ///< an older message that arrives late is dropped
  std::vector<consumer_id> consumers;
  /// The ids of these consumers' nodes. A consumer without an entry may read from any node.
  std::map<consumer_id, uint64_t> nodes = {};
  /// Consumers that left in order. For each: how many elements of its stream were handed to its
  /// trainer.
  std::map<consumer_id, uint64_t> departed = {};
  friend bool operator==(const task_readers&, const task_readers&) = default;
};

/// A job's order to run a task.
struct task_order {
  task_id id;
  incarnation life;
  job_id job;
  uint64_t repetition = 0;
  sharding_policy policy = sharding_policy::off;
  uint64_t seed = 0;       ///< the seed for operators that have none of their own
  bool shared = false;     ///< several consumers may read the task
  std::string fingerprint; ///< SHA-256 of the graph
  task_readers readers;    ///< the readers at the time of the order
  /// The lease of the service. Once `fenced(lease)` has passed since a link was lost, the consumer
  /// at its other end has noticed the loss, and hands out nothing more.
  duration lease = std::chrono::seconds{5};
  /// The task may lease splits before a reader opens a stream: the only reader of the repetition
  /// is sent this task in the answer to its request, so the reader cannot miss the task's rows.
  bool eager = false;
  /// Under a static policy: the number of shards of the dataset, and the shard of this worker.
  uint32_t shards = 0;
  uint32_t shard = 0;
  /// Under `at_least_once` the task reports, with its questions for splits, which splits are done.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// Set: each reader sends the id of its trainer, and each trainer is given all elements.
  std::optional<cache_terms> cache = {};
  /// Not zero: coordinated reads by this many consumers.
  uint32_t num_consumers = 0;
  /// The worker has confirmed earlier that it runs the task. If the worker no longer has the task,
  /// it answers `aborted`, and does not run the task from the beginning.
  bool resumes = false;
  friend bool operator==(const task_order&, const task_order&) = default;
};

/// The totals of a task's output.
struct task_output_counts {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t ignored = 0; ///< error rows that `ignore_errors` has left out
  friend bool operator==(const task_output_counts&, const task_output_counts&) = default;
};

/// A task's last message to its job, repeated until it is acknowledged.
struct task_end {
  task_id id;
  incarnation life;
  job_id job;
  task_output_counts made;
  task_outcome outcome = task_outcome::exhausted;
  status failure; ///< ok unless `outcome` is failed
  /// Set if the task left: the splits that it has not begun to read.
  std::vector<unread_splits> unread;
  /// The task is exhausted, and its pipeline ended before its sources did.
  bool by_itself = false;
  /// The passes that the task closed, except those that the job has acknowledged.
  std::vector<unread_splits> closed;
  /// In a shared job: the readers that hold rows of the task, according to their reports, and
  /// readers that are lost and had claimed rows of it.
  std::map<consumer_id, reader_marks> held = {};
};

/// A task that runs on a worker when the worker registers.
struct running_task {
  task_id id;
  job_id job;
  friend bool operator==(const running_task&, const running_task&) = default;
};

/// A worker registers.
struct worker_registration {
  worker_info info; ///< the id is zero, or one that a dispatcher gave the worker before
  std::vector<running_task> tasks;
};

struct worker_registered {
  worker_id id;
  lease_timing timing;
  bool leave = false; ///< the worker is to leave in order
};

/// The answer to a worker's heartbeat.
struct heartbeat_heard {
  /// Tasks of the worker that no job needs: the worker is to stop them.
  std::vector<task_id> unwanted;
  bool leave = false; ///< the worker is to leave in order
  bool saves = false; ///< there are steps of saves, which the worker should request
};

/// A client requests that a worker leave in order.
struct drain_request {
  /// The advertised `host:port` of the worker, or its id.
  std::variant<std::string, worker_id> which;
  /// The number of tasks in the last answer: the next answer is sent when the number has changed,
  /// or the worker is gone. Unset: the answer is sent at once.
  std::optional<uint32_t> known = {};
  incarnation life = {}; ///< the incarnation in the last answer; zero: any
};

/// The progress of a worker that is to leave.
struct worker_drains {
  worker_id id;
  incarnation life;
  std::string data_address;
  uint32_t tasks = 0;
  bool left = false; ///< the worker has left in order
  /// The number of tasks that had not ended when the time to drain was over.
  uint32_t unfinished = 0;
  friend bool operator==(const worker_drains&, const worker_drains&) = default;
};

/// A task's question for splits of one pass of one source, or its report that it closes a pass, or
/// its account. The answer to a question is a lease_answer, the answer to the others is ok. A task
/// that sends a question has read all splits of that pass and source that it was given before.
struct splits_request {
  task_id task;
  incarnation life;
  job_id job;
  splits_wish wish;
};

} // namespace headrace::detail
