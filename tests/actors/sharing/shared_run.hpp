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

namespace headrace::test::sharing {

/// A graph run under DYNAMIC by workers in this process, each with a real runner and dealer, for a
/// real job: what actors carry between them is carried here, in random order. Workers join, pause,
/// leave and die at random.
class shared_run {
public:
  using places = std::map<std::pair<uint32_t, uint64_t>, std::set<uint64_t>>;
  /// What became of a task.
  struct task {
    enum class fate : uint8_t { runs, ended, left, died };
    explicit task(split_plan plan) : given(std::move(plan)) {}
    fate how = fate::runs;
    given_splits given;
    std::vector<std::string> rows; ///< that it gave
    /// That they come from, as a reader knows it.
    std::shared_ptr<reached_splits> received = std::make_shared<reached_splits>();
    places reached;         ///< the same, without anything of the engine
    bool accounted = false; ///< its reader said so, as it is lost
    bool by_itself = false;
  };
  struct options {
    size_t workers = 1;      ///< at first
    size_t most_workers = 5; ///< that join in all
    bool accidents = true;
    bool deaths = true;
  };

  shared_run(dataset_ptr graph, uint64_t seed, const options& how);
  ~shared_run();
  /// Until the job is over. A failure of the test's if it does not come to its end.
  void run();

  const std::map<task_id, task>& tasks() const { return tasks_; }
  const split_plan& plan() const { return plan_; }
  /// Splits that were given back, and leased to nobody since; by source and pass.
  const places& returned() const { return returned_; }
  /// Splits that were leased, and not given back since; twice is a failure of the test's.
  const places& leased() const { return leased_; }

private:
  using event = std::variant<block, splits_wish, status>;
  struct worker {
    worker_id about;
    task_order order;
    std::shared_ptr<runner> runs;
    size_t paused = 0; ///< for so many steps
    std::optional<std::vector<unread_splits>> unread = {};
    std::set<split_question> asks; ///< heard nothing of yet
  };
  /// What a runner's threads said, in order.
  struct mailbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<task_id, std::deque<event>> said;
  };

  bool step();
  void accident();
  void join();
  /// `from`: the task that this is an answer to, if it may give something back.
  void carry_out(const job_outcome& what, task_id from = {});
  void start(const job_command::start_task& what);
  void on(worker& from, block rows);
  void on(worker& from, splits_wish wish);
  void on(worker& from, const status& how);
  void answer(task_id to, const splits_wish& wish, const decltype(job_command::answer::what)& what);
  void note_lease(task_id to, uint32_t source, uint64_t pass, const split_range& what);
  void note_return(task_id from, const split_assigner::returned& what);
  /// The reader says what it got of tasks that are lost.
  void account_for(const iteration_view& news);

  dataset_ptr graph_;
  split_plan plan_;
  std::mt19937_64 random_;
  options options_;
  driven_job job_;
  std::shared_ptr<mailbox> mail_ = std::make_shared<mailbox>();
  std::set<worker_id> alive_;
  std::map<task_id, worker> workers_; ///< whose tasks run
  std::map<task_id, task> tasks_;
  std::map<request_token, std::pair<task_id, splits_wish>> waiting_; ///< at the job
  places leased_, returned_;
  std::set<std::pair<std::pair<uint32_t, uint64_t>, uint64_t>> joint_;
  uint64_t last_worker_ = 0;
  std::vector<std::shared_ptr<runner>> stopped_; ///< until their threads are done
};

} // namespace headrace::test::sharing
