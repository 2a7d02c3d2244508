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

namespace headrace::detail {

/// The settings that a dispatcher applies to its jobs and workers.
struct service_terms {
  lease_timing timing;
  job_terms jobs;
  /// How long a worker may take to confirm that it has started a task.
  duration start_timeout = std::chrono::seconds{5};
  /// The workers that may register; empty: any.
  worker_roster roster = {};
  deployment_mode deployment = deployment_mode::remote;
  /// The most saves in which a worker takes part at a time; at least 1.
  size_t saves_a_worker = 3;
};

/// Decides for a dispatcher: which workers are alive, which datasets are registered, which job a
/// consumer's request is for, and which requests wait for a job that is being restarted. It is
/// given events with the time, and returns commands. It uses no actor and no clock.
///
/// Durable state is in its record (`service_record`) and changes by facts, which are returned as
/// `store` before the commands that follow from them.
class dispatcher_core {
public:
  /// `record`: empty, or what an earlier core stored. `entropy`: a random number, from which the
  /// ids of jobs are derived.
  dispatcher_core(const service_terms& terms, service_record record, uint64_t entropy);

  /// To be called once, before all other events. The jobs of the record continue.
  dispatcher_commands start(time_point now);

  // -- from workers ---------------------------------------------------------------------

  /// RegisterWorker: a worker registers, for the first time or after its connection was lost.
  dispatcher_commands register_worker(request_token request, const worker_registration& who,
                                      time_point now);
  /// WorkerHeartbeat: a worker is alive and runs these tasks. `leaving`: the worker takes no new
  /// tasks.
  dispatcher_commands worker_heartbeat(request_token request, worker_id who, incarnation life,
                                       const std::vector<running_task>& tasks, bool leaving,
                                       time_point now);
  /// LeaveService: a worker has left in order. `unfinished`: the number of its tasks that had not
  /// given everything.
  dispatcher_commands worker_leaves(request_token request, worker_id who, incarnation life,
                                    uint32_t unfinished, time_point now);
  /// AskSaveSteps: a worker reports the outcomes of steps of saves, and requests new steps.
  /// not_found: the worker must register first.
  dispatcher_commands ask_save_steps(request_token request, worker_id who, incarnation life,
                                     const save_question& what);
  /// The connection to a worker was lost.
  void worker_disconnected(worker_id who, incarnation life);

  // -- from clients -----------------------------------------------------------------------

  /// RegisterDataset: the answer contains the id of the dataset, and perhaps a warning.
  dispatcher_commands register_dataset(request_token request, dataset_registration wanted);
  /// GetDataset: the answer is the dataset with that id, or not_found.
  dispatcher_commands get_dataset(request_token request, const std::string& id);
  /// AwaitWorkers. It is answered when this many workers are alive and not about to leave.
  dispatcher_commands await_workers(request_token request, uint32_t workers);
  /// DrainWorker: a worker is to leave, and gets no new tasks. The answer contains how far the
  /// drain is. not_found: there is no such worker, and none that could come back after a restart of
  /// the dispatcher; aborted: the worker was lost, or replaced by another process.
  dispatcher_commands drain_worker(request_token request, const drain_request& wanted,
                                   time_point now);
  /// SaveDataset: workers are to write a dataset into a folder. The answer is the state of the
  /// save; a request for a save that runs already joins it. already_exists: another dataset, or the
  /// same one with another compression, is being written there.
  dispatcher_commands save_dataset(request_token request, save_request wanted);
  /// AwaitSave. It is answered when the save has ended or its version differs from `version`.
  /// not_found: no such save is running or remembered.
  dispatcher_commands await_save(request_token request, save_id id, uint64_t version);
  /// The sender of the request has ceased to wait.
  void asker_gone(request_token request);

  // -- for jobs -----------------------------------------------------------------------------

  /// OpenIteration. It is passed to the job that the request is for; if there is none, the job is
  /// begun.
  dispatcher_commands open_iteration(request_token request, const detail::open_iteration& wanted);
  /// ConsumerHeartbeat, LeaveIteration, LeaseSplits and TaskEnded. They are passed to the job that
  /// they name.
  dispatcher_commands for_job(request_token request, job_id job);

  // -- from the jobs' supervision -----------------------------------------------------------

  /// An actor of the job runs: the first one, or one after a crash.
  dispatcher_commands job_started(job_id id);
  /// No actor can be started for the job.
  dispatcher_commands job_not_started(job_id id, const status& why);
  /// The job's actor crashed. It is restarted, or `job_failed` follows.
  dispatcher_commands job_crashed(job_id id, const status& why);
  /// The job has ended normally. `past`: its finished repetitions. `collected`: see `job_remains`.
  dispatcher_commands job_ended(job_id id, const job_past& past = {}, bool collected = false);
  /// The job's actor crashed too often. `running`: its tasks, which workers still run.
  dispatcher_commands job_failed(job_id id, const status& why,
                                 const std::vector<placed_task>& running,
                                 const job_past& past = {});

  // -- from the store -------------------------------------------------------------------------

  /// Sets the state of the store's disk. While it is not ok, no dataset is registered and no job or
  /// save is begun; running jobs and saves continue.
  void disk_is(status how) { disk_ = std::move(how); }

  // -- time -----------------------------------------------------------------------------------

  /// The time of `next_deadline` has come. A call before that time does nothing.
  dispatcher_commands timer(time_point now);
  /// When to call `timer`; nullopt: not before another event.
  std::optional<time_point> next_deadline() const;

  // -- state ----------------------------------------------------------------------------------

  const service_record& record() const noexcept { return record_; }
  const worker_table& workers() const noexcept { return workers_; }
  /// The running saves, and the latest that have ended.
  std::vector<save_view> saves() const;
  /// The list of workers; empty: any worker may register.
  const worker_roster& roster() const noexcept { return terms_.roster; }

private:
  using answer_value = decltype(dispatcher_command::answer::what);
  /// A request that waits until an actor of its job runs.
  struct held {
    request_token request;
    std::optional<uint64_t> opens; ///< the repetition, if the request opens one
  };
  struct awaiting {
    request_token request;
    uint32_t workers = 0;
  };

  dispatcher_commands finish() { return std::exchange(todo_, {}); }
  /// Adds a command to store the fact, and applies the fact.
  void commit(service_record::fact what);
  void say(log_level level, std::string text,
           std::vector<std::pair<std::string, log_line::value>> fields);
  void answer(request_token to, answer_value what);

  // workers
  status refusal(const worker_info& who, const worker_info& other);
  /// Logs the refusal, unless the previous one was of the same incarnation, because workers repeat
  /// the request. Returns `why`.
  status refusal(const worker_info& who, status why);
  /// The index of the worker's entry in the list of workers; nullopt if there is no list.
  result<std::optional<uint32_t>> place_of(const worker_info& who, time_point now);
  /// Handles a worker whose lease expired, or that another process has replaced.
  void lose(const worker_info& who);
  void forget_worker(const worker_info& who, bool lost);
  void tell_jobs(const worker_info& who, bool lost);
  bool is_alive(worker_id who) const;

  // workers that are to leave
  struct waiting_drain {
    request_token request;
    drain_request what;
  };
  using known_worker = std::pair<const worker_id, worker_table::record>;
  /// The worker that the request names; null if there is none.
  const known_worker* meant_by(const drain_request& what) const;
  /// True within one lease after the start: workers of the previous dispatcher may still register.
  bool may_come_back(time_point now) const { return now < began_ + terms_.timing.lease; }
  /// Begins to drain the worker. Returns the answer; nullopt: the request waits.
  std::optional<answer_value> drained(const drain_request& what, time_point now);
  /// Informs the jobs that the worker gets no new tasks from now on.
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
  /// Stores which saves have ended, and answers the requests that wait for changes.
  void look_at_saves();
  /// Notifies workers that there are steps.
  void offer_saves();

  // datasets
  /// Registers a dataset if it is not registered. Returns its id, and perhaps a warning.
  result<dataset_def> enroll(dataset_registration wanted);
  /// A client registers a dataset under the id of another graph. Returns that id and a
  /// warning if both graphs have the same structure, else an error.
  result<dataset_def> join(const std::string& id, const dataset_record& taken,
                           const dataset_registration& wanted);

  // jobs
  /// The key of the job that the request is for: the same key for the same job.
  result<std::string> key_of(const detail::open_iteration& wanted) const;
  /// The id of the dataset that is requested; a dataset without an id is registered for this
  /// iteration.
  result<std::string> dataset_of(const detail::open_iteration& wanted);
  /// The description of a job for its actors.
  result<job_description> describe(const service_record::job& job) const;
  result<job_id> find_or_begin_job(const detail::open_iteration& wanted);
  /// Not ok if the request is for a cross-trainer cache or for coordinated reads, and the dataset
  /// does not allow these.
  status may_read(const detail::open_iteration& wanted, const std::string& dataset_id) const;
  void pass_on(request_token request, job_id job, std::optional<uint64_t> opens);
  /// The answer to a request about a job that is over, has failed or never existed.
  answer_value without_job(job_id id, std::optional<uint64_t> opens) const;
  /// Answers a request for a repetition of a job that has ended. False: there is no such job, or
  /// the repetition may begin.
  bool answer_ended(request_token request, const detail::open_iteration& wanted);
  /// Removes a job that has ended for good, and answers the requests that wait for it.
  void forget_job(job_id id, const status& why, const std::vector<placed_task>& running,
                  const job_past& past, bool collected = false);

  service_terms terms_;
  service_record record_;
  worker_table workers_;
  uint64_t entropy_;
  uint64_t drawn_ = 0;
  status disk_;
  incarnation last_refused_;
  /// If there is a list of workers: when the first worker tried to register at this dispatcher.
  std::optional<time_point> first_came_;
  std::set<job_id> running_; ///< jobs that have a running actor
  /// Requests by job, for jobs whose actors are being started, or started again.
  std::map<job_id, std::vector<held>> held_;
  std::deque<std::pair<job_id, status>> failed_jobs_; ///< the jobs that failed last, and why
  std::list<awaiting> awaiting_;
  std::list<waiting_drain> drains_;
  save_table saves_;
  std::list<waiting_for_save> awaited_saves_;
  time_point began_{};
  dispatcher_commands todo_; ///< the commands of the present event
};

} // namespace headrace::detail
