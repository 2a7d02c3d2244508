#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/task/task_actor.hpp"
#include "headrace/actors/worker/graph_cache.hpp"
#include "headrace/actors/worker/rate_window.hpp"
#include "headrace/actors/worker/stream_router.hpp"
#include "headrace/actors/worker/worker_options.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/peer.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace headrace {

/// Writes down what a task has not begun.
void write_unread(schema::UnreadSplits::Builder out, const unread_splits& what);

/// Runs tasks for a dispatcher: registers with it, says that it lives, starts and stops tasks as it
/// is told, and passes on what tasks have to say. Supervises its tasks: one whose actor dies goes
/// on in another, within its budget.
class worker_state {
public:
  using handle_type = worker_handle;
  static inline const char* name = "headrace.worker";

  worker_state(port::self_pointer<handle_type> self, worker_options options, address dispatcher,
               connector_actor connector, std::shared_ptr<stream_router> router, tree_place place,
               logger log);
  ~worker_state();
  port::behavior<handle_type> make_behavior();

private:
  struct task {
    task_definition about;
    std::shared_ptr<task_memory> memory;
    task_handle actor;    ///< null between two lives
    task_numbers numbers; ///< as the task last said
    rate_window rate;     ///< of its elements
    /// What is with the job: a question, or what was closed.
    struct ask {
      splits_wish what;
      uint64_t number = 0; ///< of the request; only the last one's answer is heard
      bool again = false;  ///< that one was lost
    };
    std::map<split_question, ask> asked;
    uint64_t asks = 0; ///< counts the requests
    /// It leaves, and gives these back.
    std::optional<std::vector<unread_splits>> unread;
  };

  envelope answer(const envelope& in);
  result<dataset_ptr> graph_of(schema::StartTask::Reader wanted);
  envelope start_task(schema::StartTask::Reader wanted, uint64_t request);
  envelope stop_task(schema::StopTask::Reader wanted, uint64_t request);
  void on_report(const task_report& what);
  static task_id task_named(const std::string& child);
  result<caf::actor> run(task_id id);
  void task_down(task_id id, const status& why);
  /// The task has failed for good.
  void give_up(task_id id, const status& why);
  void ask_splits(task_id id, const split_question& which);
  /// Asks again what was not answered; `all`: also what is not known to be lost.
  void ask_again(task_id id, bool all);
  /// The question, if it waits for the answer to that request; else null.
  task::ask* waiting(task_id id, const split_question& which, uint64_t ask);
  void not_answered(task_id id, const split_question& which, uint64_t ask);
  void answer_splits(task_id id, const split_question& which, uint64_t ask,
                     result<split_answer> what);
  void register_here(const connection& to);
  void beat();
  /// Says that a task ended, again and again until it was heard.
  void tell_end(task_id id);
  /// Gives what was begun to its consumers and the rest back to the jobs, then does `then`.
  void leave(std::function<void()> then);
  /// Goes if nothing keeps it.
  void look_if_left();
  /// Goes, whatever keeps it.
  void leave_now();
  void say_goodbye();
  void gone();
  /// Counts the stuck threads, and says when there are too many.
  size_t look_for_stuck();
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  worker_options options_;
  logger log_;
  std::shared_ptr<stream_router> router_;
  std::map<task_id, task> tasks_;
  std::map<task_id, envelope> unheard_ends_;
  graph_cache graphs_{size_t{256} << 20};
  worker_id id_;
  incarnation life_;
  lease_timing timing_;
  uint64_t beats_ = 0;
  port::watcher watcher_;
  tree_place place_;
  supervisor team_;
  buffer told_tree_; ///< as the dispatcher knows it
  bool told_stuck_ = false;
  uint64_t bad_messages_ = 0;
  std::function<void()> leaving_; ///< what to do when it has left; empty: it stays
  bool said_goodbye_ = false;
  status unreached_; ///< why the last attempt to connect failed
  peer dispatcher_;
};

} // namespace headrace
