#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "tests/actors/world/dispatcher_process.hpp"
#include "tests/actors/world/dispatcher_traffic.hpp"
#include "tests/actors/world/simulated_runner.hpp"
#include "tests/actors/world/trainer_process.hpp"
#include "tests/actors/world/virtual_folder.hpp"
#include "tests/actors/world/virtual_network.hpp"
#include "tests/actors/world/worker_process.hpp"

#include <deque>
#include <set>
#include <string>

namespace headrace::detail::test {

/// A whole service in virtual time: one dispatcher, workers, trainers, and the network between
/// them. The roles decide with the classes of the product; this class carries the messages.
class world {
public:
  struct options {
    uint64_t seed = 0;
    sharding_policy policy = sharding_policy::dynamic;
    delivery_guarantee guarantee = delivery_guarantee::at_most_once;
    world_dataset data;
    bool mixed = false;      ///< the plan states that rows may be made of several splits
    bool total_known = true; ///< the plan of the job contains the number of splits
    std::string job_name;    ///< empty: each trainer has a job of its own
    lease_timing timing;
    job_terms jobs;
    virtual_network::options net;
    duration slowest_write{};                           ///< the longest write of the dispatcher
    target_workers targets = target_workers::automatic; ///< LOCAL compares the `place` of members
    uint32_t num_consumers = 0;                         ///< not zero: coordinated reads
    bool cached = false;                                ///< jobs have a cross-trainer cache
    uint32_t shards = 0; ///< under a static policy: the number of workers in the dispatcher's list
  };
  explicit world(options what);

  worker_process& add_worker(worker_process::options what);
  trainer_process& add_trainer(trainer_process::options what);
  worker_process* worker_at(const std::string& address);

  // -- records for the judge ----------------------------------------------------------------

  /// Records that the job leased splits to a task.
  void leased(task_id to, const split_range& what);
  /// Records that a job placed a task on the worker at that address.
  void gave_a_task(job_id from, uint64_t repetition, const std::string& address) {
    workers_with_tasks[{from, repetition}].insert(address);
  }
  /// Records the present state of a task of a repetition.
  void task_is(job_id of, uint64_t repetition, const iteration::task& now);
  /// The number of a task. Except under DYNAMIC without rounds, it is in the upper 32 bits of each
  /// element that the task gives, so that the elements of two tasks differ.
  static uint64_t copy_of(task_id id) noexcept { return id.value & 0x7fffffff; }
  /// Records the elements that a task sent to a trainer.
  void sent(const block& rows, const trainer_process& to);
  /// Records the elements that reached a trainer's process.
  void reached(const block& rows);

  options about;
  simulation time;
  world_dataset data;
  dataset_ptr graph;
  split_plan plan;
  virtual_network net;
  dispatcher_traffic traffic;
  dispatcher_process dispatcher;
  std::deque<worker_process> workers;
  std::map<std::string, worker_process*> by_address;
  std::deque<trainer_process> trainers;
  virtual_folder folder;

  std::map<uint64_t, std::set<task_id>> leases; ///< by split
  std::map<task_id, time_point> lost_tasks;     ///< the lost tasks, each with the time of its loss
  /// Under a static policy, by `copy_of`: the shard of a task, and whether it was lost or left.
  struct shard_reading {
    uint32_t shard = 0;
    bool gone = false;
  };
  std::map<uint64_t, shard_reading> shard_readings;
  std::map<const trainer_process*, std::set<int64_t>> sent_to; ///< the elements by trainer
  std::set<int64_t> reached_a_trainer;
  /// How often a repetition of a job was collected.
  std::map<std::pair<job_id, uint64_t>, uint64_t> collected;
  std::set<uint64_t> finished; ///< repetitions that a job finished without an error
  /// The addresses of the workers on which a job placed tasks, by the job and its repetition.
  std::map<std::pair<job_id, uint64_t>, std::set<std::string>> workers_with_tasks;
};

} // namespace headrace::detail::test
