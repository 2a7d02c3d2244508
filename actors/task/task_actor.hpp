#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/task/runner.hpp"
#include "headrace/actors/task/task_memory.hpp"
#include "headrace/actors/worker/worker_options.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"
#include "headrace/schemas/stream.capnp.h"

#include <map>
#include <memory>
#include <set>

namespace headrace {

/// What a task is, as its job ordered it.
struct task_definition {
  task_id id;
  incarnation life;
  job_id job;
  dataset_ptr graph;
  uint64_t seed = 0;
  uint64_t repetition = 0;
  bool leases_splits = false;
  bool shared = false;
};

/// Runs one pipeline and deals its rows to the streams that consumers opened. Supervises its
/// runner: a crash starts another, which replays the splits that the task was given and drops what
/// was produced already; past its budget the task fails. An actor that takes over the memory of one
/// that died asks the consumers to open their streams again.
class task_state {
public:
  using handle_type = task_handle;
  static inline const char* name = "headrace.task";

  task_state(port::self_pointer<handle_type> self, task_definition about,
             std::shared_ptr<task_memory> memory, worker_options options, worker_handle parent,
             tree_place place, logger log);
  port::behavior<handle_type> make_behavior();

private:
  void on(const rows_produced& what);
  void on(const run_ended& what);
  void on(const splits_wanted& what);
  void on(const splits_answered& what);
  void on(const stream_arrived& what);
  void on(const stream_cut& what);
  void on(const worker_leaves& what);
  void open(const stream_arrived& from, schema::Open::Reader wanted);
  void leave(consumer_id who);
  void take_over();
  /// Can another runner go on where one broke off because of `why`? The reason if it cannot.
  status can_run_on(const status& why) const;
  void start_runner();
  result<caf::actor> run(uint64_t number);
  void fail(const status& why);
  /// It is through, well.
  void end();
  /// Sends what may be sent, and looks whether that was all.
  void deal();
  void send(const task_output::send_block& what);
  void send(const task_output::send_recall& what);
  void send(const task_output::send_end& what);
  void report(std::optional<splits_wanted> wants = {}, std::optional<status> ended = {});
  void arm();
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  task_definition about_;
  worker_options options_;
  worker_handle parent_;
  logger log_;
  std::shared_ptr<task_memory> memory_;
  std::map<std::pair<const link*, uint32_t>, consumer_id> by_channel_;
  port::watcher watcher_;
  supervisor team_;
  std::shared_ptr<runner> runner_;
  uint64_t run_ = 0;
  std::set<split_question> asked_; ///< the present runner waits for these
  bool ended_ = false;
  size_t taken_from_runner_ = 0;
  uint64_t armed_ = 0;
  /// Rows are recalled then if nothing was produced: a trainer waits.
  std::optional<time_point> dry_at_;
  time_point reported_{};
  bool report_due_ = false; ///< something was dealt since
};

} // namespace headrace
