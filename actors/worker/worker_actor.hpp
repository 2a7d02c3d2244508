#pragma once

#include "headrace/actors/hosted_task.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/worker/graph_cache.hpp"
#include "headrace/actors/worker/save_runner.hpp"
#include "headrace/actors/worker/stream_router.hpp"
#include "headrace/actors/worker/worker_core.hpp"
#include "headrace/actors/worker/worker_metrics.hpp"
#include "headrace/actors/worker/worker_options.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/peer.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"
#include "headrace/schemas/worker.capnp.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace headrace::detail {

/// The actor of a worker. It carries out the decisions of a worker_core, and supervises the tasks.
/// A task whose actor crashed continues in another actor, as often as its restart budget allows.
class worker_state {
public:
  using handle_type = worker_handle;
  static inline const char* name = "headrace.worker";

  /// `host` makes a task from an order and its graph.
  worker_state(port::self_pointer<handle_type> self, worker_options options, address dispatcher,
               connector_actor connector, std::shared_ptr<stream_router> router, host_task host,
               tree_place place, logger log);
  ~worker_state();
  port::behavior<handle_type> make_behavior();

private:
  /// A request that the core has not answered yet.
  struct request {
    envelope what;
    caf::typed_response_promise<envelope> answer;
  };
  struct task {
    std::unique_ptr<hosted_task> kept;
    task_handle actor; ///< null while no actor runs the task
  };
  /// Called with the dispatcher's answer to a message. A failure: there was no answer.
  using answered = std::function<void(const result<envelope>&)>;

  // -- events ----------------------------------------------------------------------------
  caf::result<envelope> on_request(const envelope& in);
  void on_report(const task_report& what);
  void task_down(task_id id, const status& why);
  void task_given_up(task_id id, const status& why);

  // -- commands --------------------------------------------------------------------------
  void carry_out(worker::commands what);
  void carry_out(const log_line& x);
  void carry_out(const worker::answer& x);
  void carry_out(const worker::register_here& x);
  void carry_out(const worker::heartbeat& x);
  void carry_out(const worker::ask_splits& x);
  void carry_out(const worker::say_end& x);
  void carry_out(const worker::say_goodbye& x);
  void carry_out(const worker::renew_dispatcher& x);
  void carry_out(const worker::run_task& x);
  void carry_out(const worker::stop_task& x);
  void carry_out(const worker::name_readers& x);
  void carry_out(const worker::drop_task& x);
  void carry_out(const worker::give_splits& x);
  void carry_out(const worker::tell_leaving& x);
  void carry_out(const worker::fail_streams& x);
  void carry_out(const worker::close_streams& x);
  void carry_out(const worker::count_stuck& x);
  void carry_out(const worker::report_stuck& x);
  void carry_out(const worker::report_other_version& x);
  void carry_out(const worker::report_no_dispatcher& x);
  void carry_out(const worker::report_not_listed& x);
  void carry_out(const worker::left& x);
  void carry_out(const worker::ask_save_steps& x);
  void carry_out(const worker::run_save& x);
  void carry_out(const worker::stop_save& x);

  template <class Fill>
  void say(duration limit, Fill&& fill, answered heard);
  status host(const task_order& what, schema::StartTask::Reader wanted);
  result<dataset_ptr> graph_of(schema::StartTask::Reader wanted);
  result<caf::actor> run(task_id id);
  void run_save(const save_order& what, const result<dataset_ptr>& graph);
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  worker_options options_;
  logger log_;
  std::shared_ptr<stream_router> router_;
  host_task host_;
  incarnation life_;
  worker_core core_;
  std::deque<worker::command> pending_;
  bool busy_ = false; ///< the actor is carrying out commands
  port::alarm alarm_;
  std::map<request_token, request> requests_;
  request_token last_request_;
  std::map<task_id, task> tasks_;
  /// By save: the number of the order, and the runner of the step; null while the graph is being
  /// requested.
  std::map<save_id, std::pair<uint64_t, std::unique_ptr<save_runner>>> saves_;
  graph_cache graphs_{size_t{256} << 20};
  port::watcher watcher_;
  tree_place place_;
  supervisor team_;
  buffer told_tree_; ///< the tree that was last sent to the dispatcher
  worker_metrics count_;
  counter& bad_messages_; ///< counts damaged messages, also those that the node itself has answered
  /// Stops the tasks. Called when the worker has left. Empty until the worker's owner ends it.
  std::function<void()> stop_tasks_;
  peer dispatcher_;
};

} // namespace headrace::detail
