#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/actors/protocol/iteration_losses.hpp"
#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/actors/protocol/local_reads.hpp"
#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/actors/protocol/timing.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// Messages between consumers and the dispatcher or a job, as plain structs.

/// A consumer requests to read one repetition of a job. A repeated request gets the same answer.
struct open_iteration {
  consumer_id consumer;   ///< random, chosen by the consumer
  std::string dataset_id; ///< empty: `dataset` is set
  /// The dataset, if it has no id. The service keeps it until the job is over.
  std::optional<dataset_registration> dataset;
  std::string job_name; ///< empty: an anonymous job, which ends with this consumer
  /// The requested repetition of a named job: the number of earlier iterations of this consumer's
  /// dataset.
  uint64_t repetition = 0;
  job_parameters parameters = {};
  /// The job that the consumer reads; zero until the consumer has received its id. If that job has
  /// failed, the answer is its failure, never another job.
  job_id job;
  /// The id of the consumer's node (`nodeId` in LinkHello): tasks accept streams of this consumer
  /// only from that node. Zero: the node is unknown, and tasks accept the streams from any node.
  uint64_t node = 0;
  uint64_t place = 0; ///< the place of the consumer's process; zero: no worker is local to it
  uint32_t index = 0; ///< in coordinated reads: the consumer's seat
  /// In coordinated reads: the consumer replaces an earlier one with that seat, if there was one,
  /// and begins with the next epoch.
  bool rejoins = false;
};

/// One reader of one repetition. It is part of a consumer's heartbeats and goodbye.
struct reader_of {
  consumer_id consumer;
  job_id job;
  uint64_t repetition = 0;
  friend bool operator==(const reader_of&, const reader_of&) = default;
};

/// The totals of a reader since it began, for the status.
struct reader_pace {
  duration elapsed{};
  duration waited{};     ///< the part of that time in which its trainer has waited for elements
  uint64_t elements = 0; ///< the number of elements that its trainer was handed
  uint64_t bytes = 0;
  std::string name; ///< the trainer id of a cache, or `consumer I` of coordinated reads; else empty
  std::string host; ///< the host and process of the reader: HOST:PID
  friend bool operator==(const reader_pace&, const reader_pace&) = default;
};

/// A reader reports that it is alive.
struct reader_heartbeat {
  reader_of who;
  /// Receipts for lost tasks. Each is repeated until it is acknowledged.
  std::vector<split_receipt> receipts = {};
  /// For each task in `iteration_view::held`: the number of elements of its stream that the trainer
  /// was handed; UINT64_MAX: all that have arrived.
  std::map<task_id, uint64_t> handed_out = {};
  /// The trainer waits, and nothing has arrived during the interval of a heartbeat. The job then
  /// gives up readers whose leases have expired, because they may hold the missing rows.
  bool waits = false;
  std::optional<round_progress> rounds = {}; ///< in coordinated reads
  std::optional<reader_pace> pace = {};
};

/// A reader leaves in order.
struct leave_iteration {
  reader_of who;
  /// In a shared job, for each task: the number of elements of its stream that the trainer was
  /// handed.
  std::map<task_id, uint64_t> handed_out;
  /// In a shared job under DYNAMIC: receipts for tasks that are lost or may be lost.
  std::vector<split_receipt> receipts = {};
};

/// The address at which a consumer reaches a task.
struct task_address {
  task_id id;
  incarnation life;         ///< messages of an earlier incarnation are dropped
  std::string data_address; ///< `host:port` of its worker's data port
  std::string boot_id;      ///< the boot id of the worker's host
  worker_id worker;
  worker_seat seat = {}; ///< the location of that worker
  friend bool operator==(const task_address&, const task_address&) = default;
};

/// The state of a repetition, for its readers. An answer has the whole view; an announcement may
/// have only what changed (`iteration_change.hpp`).
struct iteration_view {
  job_id job;
  uint64_t repetition = 0;
  /// The number of changes so far. An older view that arrives late is dropped.
  uint64_t version = 0;
  std::vector<task_address> tasks; ///< running tasks
  /// Tasks that are lost with their worker: readers accept nothing more from them. If the worker
  /// comes back, such a task may be among `tasks` again and continue its streams.
  std::vector<task_id> lost;
  /// Tasks that were ordered and that do not run yet. Readers may connect to their workers in
  /// advance.
  std::vector<task_address> starting;
  bool finished = false; ///< no task will give any more elements
  bool shared = false;   ///< other consumers may join, so the first grants should be small
  status failure;        ///< not ok: the repetition cannot continue
  lease_timing timing;
  /// Tasks that are over and of which readers still hold rows. In its heartbeats, each reader
  /// reports for each of these tasks how many elements of its stream were handed out.
  std::vector<task_id> held;
  iteration_losses losses; ///< the losses so far
  /// Not zero: this is a change, which names only the tasks that changed since that version.
  uint64_t since = 0;
  std::vector<task_id> gone; ///< tasks of that version that are in no list of the present view
  /// Under a static policy: the entries of the dispatcher's list whose shards were not read to
  /// their end, and for which no task runs or starts.
  std::vector<std::string> unserved = {};
  /// Set by the dispatcher, for a job that has ended: the repetition was finished before this
  /// consumer opened it.
  bool over_before = false;
  bool empty = false; ///< the repetition is finished, and no reader was given an element
  /// The workers from which the readers read.
  target_workers targets = target_workers::automatic;
  round_view rounds = {}; ///< in coordinated reads
  /// The number of elements that were made by tasks that have ended, failed or left: a reader that
  /// joins now may have missed them.
  uint64_t over_elements = 0;
  /// The number of lost tasks that ran, whether rows of them were lost or not.
  uint64_t lost_tasks = 0;
};

} // namespace headrace::detail
