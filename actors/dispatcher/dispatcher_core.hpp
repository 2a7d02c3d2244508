#pragma once

#include "headrace/actors/dispatcher/dispatcher_command.hpp"
#include "headrace/actors/dispatcher/save_table.hpp"
#include "headrace/actors/dispatcher/worker_table.hpp"

#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace {

/// What a dispatcher gives the jobs and workers of its service.
struct service_terms {
  lease_timing timing;
  job_terms jobs;
  /// How long a worker may take to answer that it has a task.
  duration start_timeout = std::chrono::seconds{5};
  /// The workers that may come; empty: any.
  worker_roster roster = {};
  deployment_mode deployment = deployment_mode::remote;
  /// In so many saves a worker takes part at a time; at least 1.
  size_t saves_a_worker = 3;
};

/// What a dispatcher decides: which workers are alive, what datasets are called, which job a
/// consumer means, who waits for a job that is started again. Events and the time go in, commands
/// come out. Knows no actor and no clock.
///
/// Datasets and jobs are in its record, which changes by facts; they come out as `store` before
/// what follows from them.
class dispatcher_core {
public:
  /// `record`: empty, or what an earlier core stored. `entropy`: a random number; the jobs' ids
  /// follow from it.
  dispatcher_core(const service_terms& terms, service_record record, uint64_t entropy);

  /// The actor begins. The jobs of an earlier one go on. To be called once, before all else.
  dispatcher_commands start(time_point now);

  // -- from workers ---------------------------------------------------------------------

  /// RegisterWorker: a worker says who it is, first or after its connection was lost.
  dispatcher_commands register_worker(request_token request, const worker_registration& who,
                                      time_point now);
  /// WorkerHeartbeat: a worker is alive, and runs these tasks. `leaving`: and takes no new ones.
  dispatcher_commands worker_heartbeat(request_token request, worker_id who, incarnation life,
                                       const std::vector<running_task>& tasks, bool leaving,
                                       time_point now);
  /// LeaveService: a worker ends in order, with so many tasks that had more to give.
  dispatcher_commands worker_leaves(request_token request, worker_id who, incarnation life,
                                    uint32_t unfinished, time_point now);
  /// AskSaveSteps: how steps of saves ended, and which are next for a worker. not_found: it is to
  /// register first.
  dispatcher_commands ask_save_steps(request_token request, worker_id who, incarnation life,
                                     const save_question& what);
  /// The connection to a worker was lost.
  void worker_disconnected(worker_id who, incarnation life);

  // -- from clients -----------------------------------------------------------------------

  /// RegisterDataset.
  dispatcher_commands register_dataset(request_token request, dataset_registration wanted);
  /// GetDataset.
  dispatcher_commands get_dataset(request_token request, const std::string& id);
  /// AwaitWorkers: answered when so many workers are alive and not about to leave.
  dispatcher_commands await_workers(request_token request, uint32_t workers);
  /// DrainWorker: a worker is to leave, and no new tasks are given to it. Answered with how far it
  /// is. not_found: there is no such worker, nor may one come back that an earlier dispatcher had;
  /// aborted: it was lost, or another process is in its place.
  dispatcher_commands drain_worker(request_token request, const drain_request& wanted,
                                   time_point now);
  /// SaveDataset: workers are to write a dataset into a folder. Answered with how far that is; who
  /// asks for a save that runs already, joins it. already_exists: another dataset is written there.
  dispatcher_commands save_dataset(request_token request, save_request wanted);
  /// AwaitSave: answered when the save has another version than `version`.
  dispatcher_commands await_save(request_token request, save_id id, uint64_t version);
  /// Nobody waits for the answer any more.
  void asker_gone(request_token request);

  // -- for jobs -----------------------------------------------------------------------------

  /// OpenIteration: for the job that is meant, which is begun if there is none.
  dispatcher_commands open_iteration(request_token request, const headrace::open_iteration& wanted);
  /// ConsumerHeartbeat, LeaveIteration, LeaseSplits and TaskEnded: for a job that is named.
  dispatcher_commands for_job(request_token request, job_id job);

  // -- from the jobs' supervision -----------------------------------------------------------

  /// An actor of the job runs: the first, or the next after a crash.
  dispatcher_commands job_started(job_id id);
  /// No actor can be started for the job.
  dispatcher_commands job_not_started(job_id id, const status& why);
  /// Its actor died; it is started again, or `job_failed` follows.
  dispatcher_commands job_crashed(job_id id, const status& why);
  /// The job is over, as it should; as it was collected, or as all that was begun is finished.
  /// `past`: its repetitions that are over.
  dispatcher_commands job_ended(job_id id, const job_past& past = {}, bool collected = false);
  /// Its actor died too often. `running`: the tasks that it leaves to workers.
  dispatcher_commands job_failed(job_id id, const status& why,
                                 const std::vector<placed_task>& running,
                                 const job_past& past = {});

  // -- from the store -------------------------------------------------------------------------

  /// The store's disk is well, or why it is not: then nothing new is begun. What runs goes on.
  void disk_is(status how) { disk_ = std::move(how); }

  // -- time -----------------------------------------------------------------------------------

  /// `next_deadline` has come. Harmless when called earlier.
  dispatcher_commands timer(time_point now);
  /// When to call `timer`; nullopt: nothing is waited for.
  std::optional<time_point> next_deadline() const;

  // -- state ----------------------------------------------------------------------------------

  const service_record& record() const noexcept { return record_; }
  const worker_table& workers() const noexcept { return workers_; }
  /// Those that run, and the latest that are over.
  std::vector<save_view> saves() const;
  /// The list of workers; empty: any worker may come.
  const worker_roster& roster() const noexcept { return terms_.roster; }

private:
  using answer_value = decltype(dispatcher_command::answer::what);
  /// A request that waits for its job's actor.
  struct held {
    request_token request;
    std::optional<uint64_t> opens; ///< the repetition, if it opens one
  };
  struct awaiting {
    request_token request;
    uint32_t workers = 0;
  };

  dispatcher_commands finish() { return std::exchange(todo_, {}); }
  /// Commands that the fact be stored, and applies it.
  void commit(service_record::fact what);
  void say(log_level level, std::string text,
           std::vector<std::pair<std::string, log_line::value>> fields);
  void answer(request_token to, answer_value what);

  // workers
  status refusal(const worker_info& who, const worker_info& other);
  /// Logs it, once for each life of a worker: it will ask again and again.
  status refusal(const worker_info& who, status why);
  /// Its entry of the list of workers; none where there is no list.
  result<std::optional<uint32_t>> place_of(const worker_info& who, time_point now);
  /// Its lease ended, or another process is in its place.
  void lose(const worker_info& who);
  void forget_worker(const worker_info& who);
  void tell_jobs(const worker_info& who, bool lost);
  bool is_alive(worker_id who) const;

  // workers that are to leave
  struct waiting_drain {
    request_token request;
    drain_request what;
  };
  using known_worker = std::pair<const worker_id, worker_table::record>;
  /// Null if there is none.
  const known_worker* meant_by(const drain_request& what) const;
  /// Workers of an earlier dispatcher have a lease to come back to this one.
  bool may_come_back(time_point now) const { return now < began_ + terms_.timing.lease; }
  /// Begins what is asked for. The answer; none: it waits.
  std::optional<answer_value> drained(const drain_request& what, time_point now);
  /// The worker takes no new tasks from now on.
  void keep_from_tasks(worker_id who);
  void answer_drains(time_point now);

  // saves
  struct waiting_for_save {
    request_token request;
    save_id id;
    uint64_t version = 0;
  };
  std::optional<save_view> save_of(save_id id) const;
  result<save_view> begin_save(save_request wanted);
  /// Stores what is over, and answers who waits.
  void look_at_saves();
  /// Says to workers that there is something to do.
  void offer_saves();

  // datasets
  /// Of a dataset that is registered now, if it was not before: its id, and a warning.
  result<dataset_def> enroll(dataset_registration wanted);
  /// What somebody registers under an id that another graph has: that one's id, and a warning, if
  /// the two have the same structure.
  result<dataset_def> join(const std::string& id, const dataset_record& taken,
                           const dataset_registration& wanted);

  // jobs
  /// Who asks with the same key means the same job.
  result<std::string> key_of(const headrace::open_iteration& wanted) const;
  /// The id of what is to be read, registered for this iteration if it has none.
  result<std::string> dataset_of(const headrace::open_iteration& wanted);
  /// What its actors need to know of a job.
  result<job_description> describe(const service_record::job& job) const;
  result<job_id> find_or_begin_job(const headrace::open_iteration& wanted);
  /// Ok, unless it asks for a cross-trainer cache or coordinated reads that the dataset cannot
  /// have.
  status may_read(const headrace::open_iteration& wanted, const std::string& dataset_id) const;
  void pass_on(request_token request, job_id job, std::optional<uint64_t> opens);
  /// The answer to a request about a job that is over, has failed or never was.
  answer_value without_job(job_id id, std::optional<uint64_t> opens) const;
  /// Answers an iteration of a job that has ended; false: there is none of that, or it may begin.
  bool answer_ended(request_token request, const headrace::open_iteration& wanted);
  /// The job is over, for good.
  void forget_job(job_id id, const status& why, const std::vector<placed_task>& running,
                  const job_past& past, bool collected = false);

  service_terms terms_;
  service_record record_;
  worker_table workers_;
  uint64_t entropy_;
  uint64_t drawn_ = 0;
  status disk_;
  incarnation last_refused_;
  std::optional<time_point> first_came_;              ///< the first worker that this core heard of
  std::set<job_id> running_;                          ///< those that have an actor
  std::map<job_id, std::vector<held>> held_;          ///< those whose actor is started again
  std::deque<std::pair<job_id, status>> failed_jobs_; ///< the latest
  std::list<awaiting> awaiting_;
  std::list<waiting_drain> drains_;
  save_table saves_;
  std::list<waiting_for_save> awaited_saves_;
  time_point began_{};
  dispatcher_commands todo_; ///< what the present event leads to
};

} // namespace headrace
