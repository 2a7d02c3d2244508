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

/// What workers and the dispatcher or its jobs say to each other, as plain structs.

/// Who reads a task, as its job says. A consumer that is not named any more is gone.
struct task_readers {
  task_id task;
  uint64_t version = 0; ///< an older one that comes late does not count
  std::vector<consumer_id> consumers;
  /// The nodes that these read from. One that is not among them may read from any.
  std::map<consumer_id, uint64_t> nodes = {};
  /// Consumers that left in order, and the elements of their streams that their trainers were
  /// given.
  std::map<consumer_id, uint64_t> departed = {};
  friend bool operator==(const task_readers&, const task_readers&) = default;
};

/// A task as its job orders it.
struct task_order {
  task_id id;
  incarnation life;
  job_id job;
  uint64_t repetition = 0;
  sharding_policy policy = sharding_policy::off;
  uint64_t seed = 0;       ///< for operators that were given none
  bool shared = false;     ///< several consumers may read
  std::string fingerprint; ///< SHA-256 of the graph
  task_readers readers;    ///< who may read at first
  /// Of the service: how long a link may be silent before both of its ends have noticed.
  duration lease = std::chrono::seconds{5};
  /// May lease splits before a reader opens a stream: no reader can take the iteration for over
  /// without having heard of this task.
  bool eager = false;
  /// Under a static policy: how many workers share the dataset, and which of them this one is.
  uint32_t shards = 0;
  uint32_t shard = 0;
  /// `at_least_once`: says what it and its readers are done with, with its questions for splits.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  /// Set: its readers name trainers, and each trainer is given all elements.
  std::optional<cache_terms> cache = {};
  /// Not zero: coordinated reads, in which each of so many consumers takes one element a round.
  uint32_t num_consumers = 0;
  friend bool operator==(const task_order&, const task_order&) = default;
};

/// What a task has produced so far.
struct task_output_counts {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t ignored = 0; ///< elements that failed and were left out by `ignore_errors`
  friend bool operator==(const task_output_counts&, const task_output_counts&) = default;
};

/// The last word of a task to its job. Repeated until it is acknowledged.
struct task_end {
  task_id id;
  incarnation life;
  job_id job;
  task_output_counts made;
  task_outcome outcome = task_outcome::exhausted;
  status failure;                    ///< ok unless `outcome` is failed
  std::vector<unread_splits> unread; ///< of a task that left
  /// It is exhausted, and its pipeline came to its end before its sources did.
  bool by_itself = false;
  /// What its pipeline was done with, and the job has not acknowledged.
  std::vector<unread_splits> closed;
  /// Of a shared job: readers that have rows which they did not hand out, as far as the task knows.
  std::map<consumer_id, reader_marks> held = {};
};

/// A task that a worker still runs, said when it registers.
struct running_task {
  task_id id;
  job_id job;
  friend bool operator==(const running_task&, const running_task&) = default;
};

/// A worker says who it is.
struct worker_registration {
  worker_info info; ///< its id is zero, or what a dispatcher gave it before
  std::vector<running_task> tasks;
};

struct worker_registered {
  worker_id id;
  lease_timing timing;
  bool leave = false; ///< the worker is to leave in order
};

/// The answer to a worker's heartbeat.
struct heartbeat_heard {
  std::vector<task_id> unwanted; ///< tasks of it that no job needs: they are to stop
  bool leave = false;            ///< the worker is to leave in order
  bool saves = false;            ///< there are steps of saves to ask for
};

/// A worker is to leave in order.
struct drain_request {
  /// `host:port` as it advertises it, or its number.
  std::variant<std::string, worker_id> which;
  /// How many tasks it was last said to have: the answer waits until that is another number.
  std::optional<uint32_t> known = {};
  incarnation life = {}; ///< as was said with that; zero: any
};

/// How far a worker is that is to leave.
struct worker_drains {
  worker_id id;
  incarnation life;
  std::string data_address;
  uint32_t tasks = 0;
  bool left = false;       ///< it has left, in order
  uint32_t unfinished = 0; ///< tasks that had more to give when its time to drain was over
  friend bool operator==(const worker_drains&, const worker_drains&) = default;
};

/// A task asks for splits of one pass over one source, which is answered with a lease_answer. All
/// that it was given of that pass and source before has been read. Or it closes a pass, which is
/// answered with ok.
struct splits_request {
  task_id task;
  incarnation life;
  job_id job;
  splits_wish wish;
};

} // namespace headrace
