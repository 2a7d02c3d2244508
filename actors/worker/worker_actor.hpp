#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/worker/stream_router.hpp"
#include "headrace/actors/worker/worker_options.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/peer.hpp"

#include <map>

namespace headrace {

/// Runs tasks for a dispatcher: registers with it, says that it lives, starts and stops tasks as it
/// is told, and passes on what tasks have to say. Parent of its tasks.
class worker_state {
public:
  using handle_type = worker_handle;
  static inline const char* name = "headrace.worker";

  worker_state(port::self_pointer<handle_type> self, worker_options options, address dispatcher,
               connector_actor connector, std::shared_ptr<stream_router> router, logger log);
  ~worker_state();
  port::behavior<handle_type> make_behavior();

private:
  struct task {
    task_handle actor;
    incarnation life;
    job_id job;
    port::watcher::token watch = 0;
    task_numbers numbers; ///< as the task last said
    uint64_t elements_before = 0;
  };

  envelope answer(const envelope& in);
  envelope start_task(schema::StartTask::Reader wanted, uint64_t request);
  envelope stop_task(schema::StopTask::Reader wanted, uint64_t request);
  void on_report(const task_report& what);
  void task_down(task_id id, const caf::error& why);
  void register_here(const connection& to);
  void beat();

  port::self_pointer<handle_type> self_;
  worker_options options_;
  logger log_;
  std::shared_ptr<stream_router> router_;
  std::map<task_id, task> tasks_;
  worker_id id_;
  incarnation life_;
  lease_timing timing_;
  uint64_t beats_ = 0;
  port::watcher watcher_;
  peer dispatcher_;
};

} // namespace headrace
