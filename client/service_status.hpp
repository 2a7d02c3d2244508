#pragma once

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

/// One of the trainers that share a cache.
struct window_trainer {
  std::string id;
  uint64_t lag = 0;     ///< elements that were made and that it has not been given
  uint64_t skipped = 0; ///< elements that it was too slow for
  uint32_t streams = 0; ///< that are connected; none: it is away
};

/// What a task keeps for the trainers that share a cache.
struct window_status {
  uint64_t first = 0; ///< elements [first, end) of the task's output
  uint64_t end = 0;
  uint64_t bytes = 0;
  uint64_t budget = 0;  ///< bytes of all windows of its worker together
  uint64_t blocks = 0;  ///< that were put into the window, ever
  uint64_t encoded = 0; ///< how often a block was encoded to be sent, ever
  std::vector<window_trainer> trainers;
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
  std::optional<window_status> window = {}; ///< of a job with a cross-trainer cache
};

/// Of a job with coordinated reads: how far its rounds are.
struct rounds_status {
  uint32_t consumers = 0;        ///< that share each round
  std::vector<uint32_t> missing; ///< the indices of those that are not there
  uint64_t epoch = 0;            ///< 0: no round has begun
  uint64_t first_round = 0;      ///< of that epoch
  std::vector<uint64_t> tasks;   ///< whose rounds these are, in turn
  uint64_t round = 0;            ///< that the foremost consumer takes next, as it last said
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
  uint64_t lost_tasks = 0;  ///< with rows that no trainer was given
  uint64_t lost_splits = 0; ///< of which rows may be missing, at most
  /// Of lost tasks, or that trainers held that are gone, that others have read.
  uint64_t reread_splits = 0;
  /// Of workers that were gone by then, that a trainer held when it was gone, too; at most so many.
  uint64_t lost_elements = 0;
  std::string guarantee;
  /// Of `reread_splits`: rows of them may have been handed out before.
  uint64_t repeated_splits = 0;
  std::optional<rounds_status> rounds = {};
};

struct worker_status {
  uint64_t worker = 0;
  std::string address; ///< of its data port
  std::vector<std::string> tags;
  uint32_t pid = 0;
  bool alive = false; ///< its lease is running
  duration since_heartbeat{};
  bool left = false;     ///< not alive, and ended in order
  bool draining = false; ///< alive, and about to leave: it gets no new tasks
  /// What its process had counted at its last heartbeat (docs/metrics.md), without zeros.
  std::vector<metric_sample> metrics;

  /// Threads that were asked to stop and hang in foreign code.
  uint32_t stuck_threads() const;
  /// Connections to its data port that were turned away or cut off, by cause, such as bad_magic (no
  /// headrace peer), truncated, oversized, silent, tls, crowded.
  std::map<std::string, uint64_t> refused_links() const;
  /// Damaged ones that reached it; each was answered.
  uint64_t bad_messages() const;
};

/// An entry of the dispatcher's list of workers: who has the shard of its index under a static
/// policy.
struct list_entry_status {
  std::string name;    ///< as it was given
  uint64_t worker = 0; ///< who has it, or had it last; 0: nobody came yet
  std::string address; ///< of that worker's data port
};

/// A dataset that the workers write into a folder.
struct save_status {
  uint64_t save = 0;
  uint64_t version = 0; ///< another one with each change
  std::string path;
  std::string dataset;
  std::string state;         ///< planning, writing, finishing, saved, failed
  uint64_t pieces = 0;       ///< 0 until that is known
  uint64_t written = 0;      ///< pieces that are there
  uint64_t elements = 0;     ///< in these
  uint64_t bytes = 0;        ///< of their files
  uint32_t workers = 0;      ///< that work on it now
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

/// What a service is doing.
struct service_status {
  duration uptime{};
  uint32_t datasets = 0;
  std::string left_out;     ///< what it does not say, as the answer would be too large; else empty
  std::string work_dir;     ///< where datasets and jobs are kept; empty: in memory
  std::string disk_trouble; ///< why nothing new is begun: that cannot be written; else empty
  std::vector<list_entry_status> worker_addresses; ///< empty: there is no list
  std::vector<worker_status> workers;
  std::vector<job_status> jobs;
  std::vector<save_status> saves; ///< the latest that are over, and those that run
  std::vector<supervised> tree;   ///< the dispatcher's and each worker's
  /// What the dispatcher's process has counted (docs/metrics.md), without zeros.
  std::vector<metric_sample> metrics;

  /// Damaged ones that reached the dispatcher; each was answered.
  uint64_t bad_messages() const;
  /// Peers that came to the dispatcher with another major version.
  uint64_t refused_peers() const;
};

/// alive, draining (it is about to leave), left (it ended in order) or lost.
std::string_view state_of(const worker_status& x) noexcept;

/// The same of the worker of an entry: free where nobody came yet.
std::string_view state_of(const list_entry_status& x, const service_status& in) noexcept;

/// Asks a dispatcher. Blocks for at most `limit`; errors name the address.
result<service_status> get_service_status(const std::string& dispatcher,
                                          duration limit = std::chrono::seconds{5});

/// Waits until at least `count` workers are alive and not about to leave, and for a dispatcher that
/// is not there yet.
status await_service_workers(const std::string& dispatcher, size_t count, duration limit);

} // namespace headrace
