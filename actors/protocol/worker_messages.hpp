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

namespace headrace {

/// Messages between workers and the dispatcher or its jobs, as plain structs.

/// The readers of a task, as its job names them. A consumer that is not named any more is gone.
struct task_readers {
  task_id task;
  uint64_t version = 0; ///< an older message that arrives late is dropped
  std::vector<consumer_id> consumers;
  /// The nodes that these consumers read from. A consumer without an entry may read from any node.
  std::map<consumer_id, uint64_t> nodes = {};
  /// Consumers that left in order, and how many elements of their streams their trainers were
  /// handed.
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
  uint64_t seed = 0;       ///< for operators without a seed of their own
  bool shared = false;     ///< several consumers may read the task
  std::string fingerprint; ///< SHA-256 of the graph
  task_readers readers;    ///< the readers at first
  /// The lease of the service: how long a link may be silent before both of its ends have noticed.
  duration lease = std::chrono::seconds{5};
  /// The task may lease splits before a reader opens a stream: no reader can take the repetition
  /// for finished without knowledge of this task.
  bool eager = false;
  /// Under a static policy: how many workers share the dataset, and which shard is this worker's.
  uint32_t shards = 0;
  uint32_t shard = 0;
  /// Under `at_least_once` the task reports, with its questions for splits, which splits are done.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// Set: readers name their trainers, and each trainer is given all elements.
  std::optional<cache_terms> cache = {};
  /// Not zero: coordinated reads by this many consumers.
  uint32_t num_consumers = 0;
  friend bool operator==(const task_order&, const task_order&) = default;
};

/// Totals of what a task has produced.
struct task_output_counts {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t ignored = 0; ///< elements that failed and were left out by `ignore_errors`
  friend bool operator==(const task_output_counts&, const task_output_counts&) = default;
};

/// A task's last message to its job. It is repeated until it is acknowledged.
struct task_end {
  task_id id;
  incarnation life;
  job_id job;
  task_output_counts made;
  task_outcome outcome = task_outcome::exhausted;
  status failure;                    ///< ok unless `outcome` is failed
  std::vector<unread_splits> unread; ///< set if the task left
  /// The task is exhausted, and its pipeline ended before its sources did.
  bool by_itself = false;
  /// The passes that the task closed, as far as the job has not acknowledged that.
  std::vector<unread_splits> closed;
  /// In a shared job: the readers that hold rows of the task, as far as the task knows.
  std::map<consumer_id, reader_marks> held = {};
};

/// A task that a worker runs while it registers.
struct running_task {
  task_id id;
  job_id job;
  friend bool operator==(const running_task&, const running_task&) = default;
};

/// A worker registers.
struct worker_registration {
  worker_info info; ///< its id is zero, or the one that a dispatcher gave it before
  std::vector<running_task> tasks;
};

struct worker_registered {
  worker_id id;
  lease_timing timing;
  bool leave = false; ///< the worker is to leave in order
};

/// The answer to a worker's heartbeat.
struct heartbeat_heard {
  std::vector<task_id> unwanted; ///< its tasks that no job needs: they are to stop
  bool leave = false;            ///< the worker is to leave in order
  bool saves = false;            ///< there are steps of saves, for which the worker should ask
};

/// A client requests that a worker leave in order.
struct drain_request {
  /// The advertised `host:port` of the worker, or its number.
  std::variant<std::string, worker_id> which;
  /// The number of tasks in the last answer: the next one is sent when the number is another.
  std::optional<uint32_t> known = {};
  incarnation life = {}; ///< the incarnation in the last answer; zero: any
};

/// The progress of a worker that is to leave.
struct worker_drains {
  worker_id id;
  incarnation life;
  std::string data_address;
  uint32_t tasks = 0;
  bool left = false;       ///< it has left, in order
  uint32_t unfinished = 0; ///< tasks that had more to give when the time to drain was over
  friend bool operator==(const worker_drains&, const worker_drains&) = default;
};

/// A task asks for splits of one pass over one source; the answer is a lease_answer. All splits of
/// that pass and source that it was given before have been read. Or it closes a pass; the answer is
/// ok.
struct splits_request {
  task_id task;
  incarnation life;
  job_id job;
  splits_wish wish;
};

} // namespace headrace
