#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/task/runner.hpp"
#include "headrace/actors/task/task_memory.hpp"
#include "headrace/actors/task_surroundings.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <memory>

namespace headrace::detail {

/// The actor of a task. It carries out the commands of the core that is in the task's memory, and
/// supervises the runner. Rows that are produced fast are dealt and sent by the runner's thread
/// (`deal_rows`), as far as there is credit; all others by the actor. After a crash another runner
/// replays the splits of the task and drops the rows that were produced already. When the restart
/// budget is used up, the task fails.
class task_state {
public:
  using handle_type = task_handle;
  static inline const char* name = "headrace.task";

  task_state(port::self_pointer<handle_type> self, std::shared_ptr<task_memory> memory,
             task_surroundings options, worker_handle parent, tree_place place, logger log);
  ~task_state();
  port::behavior<handle_type> make_behavior();

private:
  void on(const work_left& what);
  void on(const run_done& what);
  void on(const run_ended& what);
  void on(const splits_wanted& what);
  void on(const splits_answered& what);
  void on(const stream_arrived& what);
  void on(const stream_cut& what);
  void on(const worker_leaves& what);
  void on(const task_stops& what);
  void on(const readers_named& what);
  void on(const room_came& what);
  produce::commands arrived(task_core& core, const stream_arrived& what,
                            result<from_consumer> said);
  produce::commands cut(task_core& core, const stream_cut& what);
  result<caf::actor> run(uint64_t number);

  /// Deals the rows that the runner's thread has left, calls `event` with the core, and carries out
  /// the commands: first those that the runner's thread has left, then the new ones.
  template <class Event>
  void handle(Event&& event);
  void carry_out(const produce::commands& what);
  void carry_out(const produce::send&) {}       ///< `task_memory::send` has carried this out
  void carry_out(const produce::close_link&) {} ///< likewise
  void carry_out(const produce::start_runner& what);
  void carry_out(const produce::give_splits& what);
  void carry_out(const produce::take_over_bytes& what);
  void carry_out(const produce::leave_runner& what);
  void carry_out(const produce::report& what);
  void carry_out(const produce::end& what);
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  task_surroundings options_;
  worker_handle parent_;
  std::shared_ptr<task_memory> memory_;
  uint64_t number_ = 0; ///< the number of this actor, as `task_memory::actor`
  port::watcher watcher_;
  supervisor team_;
  std::shared_ptr<runner> runner_;
  port::alarm alarm_;
};

} // namespace headrace::detail
