#pragma once

#include "headrace/client/session.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/metrics/metric_sample.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// One of the trainers that share a window.
struct window_trainer {
  std::string id;
  /// The number of produced elements that the trainer was not handed and has not skipped.
  uint64_t lag = 0;
  /// The number of elements that left the window before the trainer was handed them.
  uint64_t skipped = 0;
  uint32_t streams = 0; ///< the number of its connected streams; 0: the trainer is not connected
};

/// The window of a task, for the trainers that share it.
struct window_status {
  uint64_t first = 0; ///< the window has elements [first, end) of the task's output
  uint64_t end = 0;
  uint64_t bytes = 0;
  uint64_t budget = 0;  ///< the bytes that all windows of its worker may take together
  uint64_t blocks = 0;  ///< total number of blocks that were added to the window
  uint64_t encoded = 0; ///< how often blocks of the window were encoded as messages, in total
  std::vector<window_trainer> trainers;
};

/// The activity of one operator of a running task in the last seconds. The sum of the shares of its
/// time is 1.
struct operator_status {
  /// The name with the parameters that distinguish the operator: `batch(64)`.
  std::string name;
  /// 0: the operator whose elements the task gives. The inputs of an operator are one deeper, and
  /// follow it in the list.
  uint32_t depth = 0;
  /// The operator belongs to a dataset in the function of another operator.
  bool in_function = false;
  double calls = 1; ///< the number of its calls that may run at a time
  double rows_per_second = 0;
  double bytes_per_second = 0;
  double busy = 0;    ///< the operator computed
  double input = 0;   ///< the operator waited for its inputs
  double output = 0;  ///< no rows were requested of the operator, or it could hold no more rows
  double lease = 0;   ///< the operator waited for splits of its job
  double storage = 0; ///< the operator waited for files
  double memory = 0;  ///< the operator could not read ahead, because the graph's memory was used up
  double queued = 0;  ///< the operator's calls waited for a thread
};

/// The activity of a reader of a job in the last seconds.
struct trainer_status {
  uint64_t consumer = 0;
  std::string name; ///< the trainer id of a cache, or `consumer I` of coordinated reads; else empty
  std::string host; ///< the host and process: HOST:PID
  /// The share of the time in which the trainer waited; negative: not known yet.
  double waited = -1;
  double elements_per_second = 0;
  double bytes_per_second = 0;
  uint64_t elements = 0; ///< the total number of elements that the trainer was handed
};

struct task_status {
  uint64_t task = 0;
  uint64_t worker = 0;
  std::string state; ///< starting, running, ended, failed, lost, left
  uint64_t elements = 0;
  double elements_per_second = 0;
  uint64_t bytes = 0;
  uint32_t streams = 0;
  uint32_t restarts = 0;
  uint64_t ignored = 0; ///< the number of elements that failed and were left out by `ignore_errors`
  std::optional<window_status> window = {}; ///< in a job with a cross-trainer cache
  /// The operators of the running pipeline, from its output to its sources.
  std::vector<operator_status> operators = {};
};

/// The rounds of a job with coordinated reads.
struct rounds_status {
  uint32_t consumers = 0;        ///< the number of consumers that share each round
  std::vector<uint32_t> missing; ///< the free seats
  uint64_t epoch = 0;            ///< 0: no round has begun
  uint64_t first_round = 0;      ///< the first round of that epoch
  std::vector<uint64_t> tasks;   ///< the tasks that serve the rounds of the epoch, in turn
  /// The next round of the consumer that is furthest ahead, as last reported.
  uint64_t round = 0;
};

struct job_status {
  uint64_t job = 0;
  std::string name; ///< empty: anonymous
  std::string dataset;
  std::string processing_mode;
  std::string state; ///< running, finished, failed
  uint64_t repetition = 0;
  uint32_t consumers = 0;
  std::string failure; ///< the reason why the job failed
  std::vector<task_status> tasks;
  /// The number of lost tasks of which rows may be missing. Under a static policy: the number of
  /// tasks that were lost or have left, whose shards are read again.
  uint64_t lost_tasks = 0;
  uint64_t lost_splits = 0; ///< the number of splits of which rows may be missing; an upper bound
  /// The number of splits that other tasks read again: splits of lost tasks, and splits of which
  /// lost trainers held rows.
  uint64_t reread_splits = 0;
  /// The number of elements that a lost trainer had claimed, or had received from a worker that is
  /// gone, and that no other trainer is given; an upper bound.
  uint64_t lost_elements = 0;
  std::string guarantee;
  /// The number of splits among `reread_splits` of which rows may have been handed out before.
  uint64_t repeated_splits = 0;
  std::optional<rounds_status> rounds = {};
  std::vector<trainer_status> trainers = {}; ///< the readers of the repetition
};

struct worker_status {
  uint64_t worker = 0;
  std::string address; ///< the address of its data port
  std::vector<std::string> tags;
  uint32_t pid = 0;
  bool alive = false; ///< its lease has not expired
  duration since_heartbeat{};
  bool left = false;     ///< the worker is not alive, and left in order
  bool draining = false; ///< the worker is alive, and about to leave: it gets no new tasks
  /// The metrics of its process in its last heartbeat (docs/metrics.md), without counters and
  /// histograms to which nothing was added. Gauges are always included.
  std::vector<metric_sample> metrics;

  /// The number of threads that were requested to stop and are stuck in foreign code.
  uint32_t stuck_threads() const;
  /// The number of connections to its data port that were refused or closed, by cause, such as
  /// bad_magic (the peer is not headrace), truncated, oversized, silent, tls, crowded.
  std::map<std::string, uint64_t> refused_links() const;
  /// The number of damaged messages that it received; each was answered.
  uint64_t bad_messages() const;
};

/// An entry of the dispatcher's list of workers. Under a static policy, the index of an entry is
/// the number of the shard that the worker of the entry reads.
struct list_entry_status {
  std::string name; ///< the entry in its configured form
  /// The worker to which the entry belongs, or belonged last; 0: none has registered for it yet.
  uint64_t worker = 0;
  std::string address; ///< the address of that worker's data port
};

/// A dataset that the workers write into a folder.
struct save_status {
  uint64_t save = 0;
  uint64_t version = 0; ///< increases with each change of the save
  std::string path;
  std::string dataset;
  std::string state;         ///< planning, writing, finishing, saved, failed
  uint64_t pieces = 0;       ///< 0 until the number of pieces is known
  uint64_t written = 0;      ///< the number of written pieces
  uint64_t elements = 0;     ///< the number of elements in the written pieces
  uint64_t bytes = 0;        ///< the bytes of the files of the written pieces
  uint32_t workers = 0;      ///< the number of workers that have a step of the save
  status failure;            ///< the reason why the save failed
  std::string whole_because; ///< the reason why one worker writes the dataset alone; else empty
};

struct supervised {
  std::string name;
  std::string state;
  uint64_t restarts = 0;
  std::string last_reason;
  std::vector<supervised> children;
};

/// The status of a service.
struct service_status {
  duration uptime{};
  uint32_t datasets = 0;
  /// The parts that were left out because the answer would have been too large; else empty.
  std::string left_out;
  std::string work_dir; ///< the directory with datasets and jobs; empty: in memory
  /// The reason why `work_dir` cannot be written, and no new work is begun; else empty.
  std::string disk_trouble;
  std::vector<list_entry_status> worker_addresses; ///< empty: there is no list
  std::vector<worker_status> workers;
  std::vector<job_status> jobs;
  std::vector<save_status> saves; ///< the running saves, and those that have ended last
  std::vector<supervised> tree;   ///< the supervision trees of the dispatcher and of each worker
  /// The metrics of the dispatcher's process (docs/metrics.md), without counters and histograms to
  /// which nothing was added. Gauges are always included.
  std::vector<metric_sample> metrics;

  /// The number of damaged messages that the dispatcher received; each was answered.
  uint64_t bad_messages() const;
  /// The number of peers with another major version that the dispatcher refused.
  uint64_t refused_peers() const;
};

/// The state in one word: alive, draining (about to leave), left (in order) or lost.
std::string_view state_of(const worker_status& x) noexcept;

/// The state of the worker to which an entry belongs; free if none has registered for it yet.
std::string_view state_of(const list_entry_status& x, const service_status& in) noexcept;

/// Requests the status from a dispatcher. Blocks for at most `limit`; errors name the address.
result<service_status> get_service_status(const std::string& dispatcher,
                                          duration limit = std::chrono::seconds{5},
                                          const session& with = {});

/// Waits until at least `count` workers are alive and not about to leave. Also waits for a
/// dispatcher that cannot be reached yet.
status await_service_workers(const std::string& dispatcher, size_t count, duration limit,
                             const session& with = {});

} // namespace headrace
