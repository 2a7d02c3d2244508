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
  uint64_t lag = 0;     ///< elements that were made and that it was not handed
  uint64_t skipped = 0; ///< elements that left the window before it was handed them
  uint32_t streams = 0; ///< its connected streams; none: it is away
};

/// The window of a task, for the trainers that share it.
struct window_status {
  uint64_t first = 0; ///< the window has elements [first, end) of the task's output
  uint64_t end = 0;
  uint64_t bytes = 0;
  uint64_t budget = 0;  ///< bytes of all windows of its worker together
  uint64_t blocks = 0;  ///< total number of blocks that were added to the window
  uint64_t encoded = 0; ///< total number of encodings
  std::vector<window_trainer> trainers;
};

/// What one operator of a running task has done in the last seconds. The shares of its time sum up
/// to 1.
struct operator_status {
  std::string name;         ///< with what distinguishes it: `batch(64)`
  uint32_t depth = 0;       ///< 0: gives the task's elements; inputs are one deeper, and follow
  bool in_function = false; ///< it belongs to a dataset in the function of another operator
  double calls = 1;         ///< how many of it may run at a time
  double rows_per_second = 0;
  double bytes_per_second = 0;
  double busy = 0;    ///< it computed
  double input = 0;   ///< it waited for its inputs
  double output = 0;  ///< it was not asked for rows, or could hold no more of them
  double lease = 0;   ///< it waited for splits of its job
  double storage = 0; ///< it waited for files
  double memory = 0;  ///< it could read nothing ahead, as the graph's memory was used up
  double queued = 0;  ///< its calls waited for a thread
};

/// What a reader of a job has done in the last seconds.
struct trainer_status {
  uint64_t consumer = 0;
  std::string name; ///< the trainer id of a cache, or `consumer I` of coordinated reads; else empty
  std::string host; ///< HOST:PID
  double waited = -1; ///< the share of the time in which it waited; negative: not known yet
  double elements_per_second = 0;
  double bytes_per_second = 0;
  uint64_t elements = 0; ///< that it was handed in all
};

struct task_status {
  uint64_t task = 0;
  uint64_t worker = 0;
  std::string state; ///< starting, running, ended, failed, lost
  uint64_t elements = 0;
  double elements_per_second = 0;
  uint64_t bytes = 0;
  uint32_t streams = 0;
  uint32_t restarts = 0;
  uint64_t ignored = 0; ///< elements that failed and were left out by `ignore_errors`
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
  std::vector<uint64_t> tasks;   ///< the tasks that serve its rounds, in turn
  uint64_t round = 0;            ///< the next round of the foremost consumer, as it last reported
};

struct job_status {
  uint64_t job = 0;
  std::string name; ///< empty: anonymous
  std::string dataset;
  std::string processing_mode;
  std::string state; ///< running, finished, failed
  uint64_t repetition = 0;
  uint32_t consumers = 0;
  std::string failure; ///< why it failed
  std::vector<task_status> tasks;
  uint64_t lost_tasks = 0;  ///< lost tasks that had rows which no trainer received
  uint64_t lost_splits = 0; ///< splits of which rows may be missing; an upper bound
  /// Splits of lost tasks, or splits that lost trainers held, that other tasks read again.
  uint64_t reread_splits = 0;
  /// Elements that a lost trainer had claimed, or had received from a worker that is gone, and that
  /// no other trainer is given; an upper bound.
  uint64_t lost_elements = 0;
  std::string guarantee;
  /// The splits among `reread_splits` of which rows may have been handed out before.
  uint64_t repeated_splits = 0;
  std::optional<rounds_status> rounds = {};
  std::vector<trainer_status> trainers = {}; ///< the readers of the repetition
};

struct worker_status {
  uint64_t worker = 0;
  std::string address; ///< of its data port
  std::vector<std::string> tags;
  uint32_t pid = 0;
  bool alive = false; ///< its lease has not expired
  duration since_heartbeat{};
  bool left = false;     ///< not alive, and left in order
  bool draining = false; ///< alive, and about to leave: it gets no new tasks
  /// The metrics of its process in its last heartbeat (docs/metrics.md), without zeros.
  std::vector<metric_sample> metrics;

  /// Threads that were asked to stop and are stuck in foreign code.
  uint32_t stuck_threads() const;
  /// Connections to its data port that were refused or closed, by cause, such as bad_magic (no
  /// headrace peer), truncated, oversized, silent, tls, crowded.
  std::map<std::string, uint64_t> refused_links() const;
  /// Damaged messages that it received; each was answered.
  uint64_t bad_messages() const;
};

/// An entry of the dispatcher's list of workers. The worker that has it gets the shard with its
/// index under a static policy.
struct list_entry_status {
  std::string name;    ///< the entry, as it was configured
  uint64_t worker = 0; ///< the worker that has it, or had it last; 0: none came yet
  std::string address; ///< of that worker's data port
};

/// A dataset that the workers write into a folder.
struct save_status {
  uint64_t save = 0;
  uint64_t version = 0; ///< changes with each change of the save
  std::string path;
  std::string dataset;
  std::string state;         ///< planning, writing, finishing, saved, failed
  uint64_t pieces = 0;       ///< 0 until the number is known
  uint64_t written = 0;      ///< number of written pieces
  uint64_t elements = 0;     ///< in the written pieces
  uint64_t bytes = 0;        ///< of the files of the written pieces
  uint32_t workers = 0;      ///< workers that have a step of it
  status failure;            ///< why it failed
  std::string whole_because; ///< why one worker writes it alone; else empty
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
  /// What was left out because the answer would have been too large; else empty.
  std::string left_out;
  std::string work_dir; ///< the directory with datasets and jobs; empty: in memory
  /// Why nothing new is begun: that directory cannot be written; else empty.
  std::string disk_trouble;
  std::vector<list_entry_status> worker_addresses; ///< empty: there is no list
  std::vector<worker_status> workers;
  std::vector<job_status> jobs;
  std::vector<save_status> saves; ///< the latest that have ended, and the running ones
  std::vector<supervised> tree;   ///< of the dispatcher's process and each worker's
  /// The metrics of the dispatcher's process (docs/metrics.md), without zeros.
  std::vector<metric_sample> metrics;

  /// Damaged messages that the dispatcher received; each was answered.
  uint64_t bad_messages() const;
  /// Peers with another major version that the dispatcher refused.
  uint64_t refused_peers() const;
};

/// alive, draining (it is about to leave), left (in order) or lost.
std::string_view state_of(const worker_status& x) noexcept;

/// The state of the worker that has an entry; free if none came yet.
std::string_view state_of(const list_entry_status& x, const service_status& in) noexcept;

/// Requests the status from a dispatcher. Blocks for at most `limit`; errors name the address.
result<service_status> get_service_status(const std::string& dispatcher,
                                          duration limit = std::chrono::seconds{5},
                                          const session& with = {});

/// Waits until at least `count` workers are alive and not about to leave. Also waits for a
/// dispatcher that is not reachable yet.
status await_service_workers(const std::string& dispatcher, size_t count, duration limit,
                             const session& with = {});

} // namespace headrace
