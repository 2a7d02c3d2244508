#pragma once

#include "headrace/actors/stream/reached_splits.hpp"
#include "headrace/actors/task/runner.hpp"
#include "tests/actors/job/driven_job.hpp"
#include "tests/actors/sharing/given_splits.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>

namespace headrace::detail::test::sharing {

/// A graph that is run under DYNAMIC by workers in this process, each with a real runner and
/// dealer, for a real job: the messages that actors would send are passed here, in random order.
/// Workers join, pause, leave and are killed at random.
class shared_run {
public:
  using places = std::map<std::pair<uint32_t, uint64_t>, std::set<uint64_t>>;
  /// The record of a task.
  struct task {
    enum class fate : uint8_t { runs, ended, left, died };
    explicit task(split_plan plan) : given(std::move(plan)) {}
    fate how = fate::runs;
    given_splits given;
    std::vector<std::string> rows; ///< the rows that it gave
    /// The splits of these rows, as its reader has recorded them.
    std::shared_ptr<reached_splits> received = std::make_shared<reached_splits>();
    places reached;         ///< the splits of `rows`, recorded without `reached_splits`
    bool accounted = false; ///< the task is lost, and its reader has sent a receipt
    bool by_itself = false;
  };
  struct options {
    size_t workers = 1;      ///< the number of workers at the beginning
    size_t most_workers = 5; ///< at random, workers join until so many have joined in all
    bool accidents = true;
    bool deaths = true;
  };

  shared_run(dataset_ptr graph, uint64_t seed, const options& how);
  ~shared_run();
  /// Runs until the job is over. If it does not end, the test fails.
  void run();

  const std::map<task_id, task>& tasks() const { return tasks_; }
  const split_plan& plan() const { return plan_; }
  /// The splits that were given back and not leased since, by source and pass.
  const places& returned() const { return returned_; }
  /// The splits that were leased and not given back since; a split that is leased twice fails the
  /// test.
  const places& leased() const { return leased_; }

private:
  using event = std::variant<block, splits_wish, status>;
  struct worker {
    worker_id about;
    task_order order;
    std::shared_ptr<runner> runs;
    size_t paused = 0; ///< the number of steps for which the worker pauses
    std::optional<std::vector<unread_splits>> unread = {};
    std::set<split_question> asks; ///< questions without an answer so far
  };
  /// The messages of the runners' threads, by task, in order.
  struct mailbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<task_id, std::deque<event>> said;
  };

  bool step();
  void accident();
  void join();
  /// `from`: the task whose message led to this outcome, if the message gives splits back.
  void carry_out(const job_outcome& what, task_id from = {});
  void start(const job_command::start_task& what);
  void on(worker& from, block rows);
  void on(worker& from, splits_wish wish);
  void on(worker& from, const status& how);
  void answer(task_id to, const splits_wish& wish, const decltype(job_command::answer::what)& what);
  void note_lease(task_id to, uint32_t source, uint64_t pass, const split_range& what);
  void note_return(task_id from, const split_assigner::returned& what);
  /// Sends the receipts of the reader for lost tasks.
  void account_for(const iteration_view& news);

  dataset_ptr graph_;
  split_plan plan_;
  std::mt19937_64 random_;
  options options_;
  driven_job job_;
  std::shared_ptr<mailbox> mail_ = std::make_shared<mailbox>();
  std::set<worker_id> alive_;
  std::map<task_id, worker> workers_; ///< the workers whose tasks run
  std::map<task_id, task> tasks_;
  /// Unanswered questions at the job.
  std::map<request_token, std::pair<task_id, splits_wish>> waiting_;
  places leased_, returned_;
  uint64_t last_worker_ = 0;
};

} // namespace headrace::detail::test::sharing
