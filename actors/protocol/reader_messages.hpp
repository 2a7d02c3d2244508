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

namespace headrace {

/// What consumers and the dispatcher or a job say to each other, as plain structs.

/// A consumer asks to read one repetition of a job. May be repeated: the same consumer gets the
/// same answer.
struct open_iteration {
  consumer_id consumer;   ///< random, chosen by the consumer
  std::string dataset_id; ///< empty: `dataset`
  /// What is to be read, where it has no id: known to the service for as long as somebody reads it.
  std::optional<dataset_registration> dataset;
  std::string job_name; ///< empty: a job for this consumer alone, which ends with it
  /// How often this consumer's dataset was iterated before: the repetition of a named job that it
  /// asks for.
  uint64_t repetition = 0;
  job_parameters parameters = {};
  /// The job that it reads; zero before it knows one. If that job has failed the answer is the
  /// failure, never another job.
  job_id job;
  uint64_t node = 0;  ///< of the consumer, the number in its links' hellos; zero: not told
  uint64_t place = 0; ///< of its process (process_place); zero: no worker is local to it
  uint32_t index = 0; ///< of coordinated reads: which element of each round is its own
  /// Of coordinated reads: it comes in the place of a consumer of that index, if there was one, and
  /// begins with the next epoch.
  bool rejoins = false;
};

/// One reader of one repetition: what a consumer's heartbeat and its goodbye name.
struct reader_of {
  consumer_id consumer;
  job_id job;
  uint64_t repetition = 0;
  friend bool operator==(const reader_of&, const reader_of&) = default;
};

/// A reader says that it lives.
struct reader_heartbeat {
  reader_of who;
  /// What it got of tasks that are lost. Said until it is acknowledged.
  std::vector<split_receipt> receipts = {};
  /// By task that is over: the elements of its stream that the trainer was given. Of those that the
  /// job asks for (`iteration_view::held`).
  std::map<task_id, uint64_t> handed_out = {};
  /// The trainer waits, and nothing has come for a heartbeat: what silent readers hold may be what
  /// it waits for.
  bool waits = false;
  std::optional<round_progress> rounds = {}; ///< of coordinated reads
};

/// A reader leaves in order.
struct leave_iteration {
  reader_of who;
  /// By task: the elements of its stream that the trainer was given.
  std::map<task_id, uint64_t> handed_out;
  /// What it got of tasks that are lost or may be.
  std::vector<split_receipt> receipts = {};
};

/// Where a consumer finds a task.
struct task_address {
  task_id id;
  incarnation life;         ///< what an older one says is dropped
  std::string data_address; ///< `host:port` of its worker's data port
  std::string boot_id;      ///< of the worker's host
  worker_id worker;
  worker_seat seat = {}; ///< of that worker
  friend bool operator==(const task_address&, const task_address&) = default;
};

/// One repetition of a job as its readers need to know it: whole as an answer, and what changed
/// when it changes (`iteration_change.hpp`).
struct iteration_view {
  job_id job;
  uint64_t repetition = 0;
  uint64_t version = 0;            ///< counts the changes; an older one that comes late is dropped
  std::vector<task_address> tasks; ///< those that run
  /// Tasks that are lost with their worker: nothing more is accepted from them. One whose worker is
  /// back may be among `tasks` again later, and goes on where it was.
  std::vector<task_id> lost;
  /// Tasks that were ordered and are not among `tasks` yet: it is worth having a link to their
  /// workers when they run.
  std::vector<task_address> starting;
  bool finished = false; ///< nothing is left, and nothing will come
  bool shared = false;   ///< other consumers may join: ask for small amounts first
  status failure;        ///< not ok: the job cannot go on
  lease_timing timing;
  /// Tasks that are over, and of which readers have rows that they did not hand out, as far as the
  /// job knows: each says with its heartbeats how far it is.
  std::vector<task_id> held;
  iteration_losses losses; ///< so far
  /// Not zero: of the tasks only those are named that changed since that version.
  uint64_t since = 0;
  std::vector<task_id> gone; ///< since then: neither running, nor starting, nor lost
  /// Under a static policy: the entries of the dispatcher's list whose shards were not read to
  /// their end, and for which no task runs or starts.
  std::vector<std::string> unserved = {};
  /// Of one that is finished: its job was over before this consumer asked.
  bool over_before = false;
  bool empty = false; ///< finished, and no element was given to anybody
  /// From which of the tasks each reader reads.
  target_workers targets = target_workers::automatic;
  round_view rounds = {}; ///< of coordinated reads
};

} // namespace headrace
