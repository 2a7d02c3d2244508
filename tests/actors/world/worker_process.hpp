#pragma once

#include "headrace/actors/cache/window_store.hpp"
#include "headrace/actors/task/task_core.hpp"
#include "headrace/actors/worker/worker_core.hpp"
#include "tests/actors/world/control.hpp"
#include "tests/actors/world/simulated_runner.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace headrace::detail::test {

class world;

/// A worker's process. It has a worker_core and a task_core for each of its tasks, and does the
/// work of worker_state, task_state, the router and the runners.
class worker_process final : public virtual_process {
public:
  struct options {
    std::string address;     ///< the address at which consumers reach the worker
    duration per_block{};    ///< the time of a runner for a block, on average
    uint64_t most_rows = 16; ///< the largest number of rows of a block
    duration drain = std::chrono::milliseconds{500};
    size_t cache_bytes = 16 << 10; ///< for the windows of cross-trainer caches
    uint64_t place = 1;            ///< trainers with this place are local to the worker
    duration per_step = std::chrono::milliseconds{200}; ///< the longest time of a step of a save
  };
  worker_process(world& in, std::string name, options what);

  const options& about() const noexcept { return options_; }
  bool leaving() const noexcept {
    return leaving_ || (core_ && core_->leaving() != worker_core::step::staying);
  }
  size_t tasks() const noexcept { return tasks_.size(); }
  /// True if the worker was present from the beginning of the world, in one life, and does not
  /// leave.
  bool there_from_the_start() const { return alive() && !leaving() && starts_ == 1 && first_; }
  /// Leaves the service, as a worker does at a SIGTERM.
  void leave();
  /// The actor of a task crashes, and is replaced later.
  void crash_a_task();
  /// The runner of a task crashes, and is replaced at once unless the task is over.
  void crash_a_runner();

  // -- called at this process by others ---------------------------------------------------

  using answered = std::function<void(const status&)>;
  void start_task(const task_order& what, answered reply);
  void stop_task(task_id id, const std::string& reason, answered reply);
  void name_readers(const task_readers& who, answered reply);
  void saves_offered();
  void accepted_link(const connection_end& at);
  void stream_arrived(const connection_end& at, uint32_t channel, from_consumer what);

private:
  struct route {
    connection_end over;
    uint32_t channel = 0;
    task_id task;
  };
  struct task {
    task_core core;
    std::unique_ptr<simulated_runner> runner;
    bool acting = false; ///< an actor runs the task
    std::unique_ptr<virtual_alarm> alarm;
    uint64_t runs = 0;
  };
  void on_started() override;
  void on_killed() override;
  task* find(task_id id);
  void after_hop(std::function<void()> what);
  void begin_run(task_id id);
  void run(task_id id, uint64_t number);
  void fail_stream(const connection_end& at, uint32_t channel, const status& why);
  void send(const connection_end& at, uint32_t channel, const from_task& what);

  void carry_out(const worker::commands& what);
  void carry_out(const log_line&) {}
  void carry_out(const worker::answer& what);
  void carry_out(const worker::register_here& what);
  void carry_out(const worker::heartbeat& what);
  void carry_out(const worker::ask_splits& what);
  void carry_out(const worker::say_end& what);
  void carry_out(const worker::say_goodbye& what);
  void carry_out(const worker::renew_dispatcher& what);
  void carry_out(const worker::run_task& what);
  void carry_out(const worker::stop_task& what);
  void carry_out(const worker::name_readers& what);
  void carry_out(const worker::drop_task& what);
  void carry_out(const worker::give_splits& what);
  void carry_out(const worker::tell_leaving& what);
  void carry_out(const worker::fail_streams& what);
  void carry_out(const worker::close_streams& what);
  void carry_out(const worker::count_stuck&) {}
  void carry_out(const worker::report_stuck&) {}
  void carry_out(const worker::report_other_version&) {}
  void carry_out(const worker::report_no_dispatcher&) {}
  void carry_out(const worker::report_not_listed&) {}
  void carry_out(const worker::left& what);
  void carry_out(const worker::ask_save_steps& what);
  void carry_out(const worker::run_save& what);
  void carry_out(const worker::stop_save& what);
  /// Applies the effect of a step to the folder.
  save_report take_step(const save_order& what);

  void carry_out(task_id id, const produce::commands& what);
  void carry_out(task& of, const produce::send& what);
  void carry_out(task& of, const produce::close_link& what);
  void carry_out(task& of, const produce::start_runner& what);
  void carry_out(task& of, const produce::give_splits& what);
  void carry_out(task& of, const produce::take_over_bytes& what);
  void carry_out(task& of, const produce::leave_runner& what);
  void carry_out(task& of, const produce::report& what);
  void carry_out(task& of, const produce::end& what);

  world& world_;
  options options_;
  bool leaving_ = false;
  bool first_; ///< the worker was added before all trainers
  uint64_t starts_ = 0;
  std::unique_ptr<worker_core> core_;
  std::unique_ptr<control_peer> dispatcher_;
  virtual_alarm alarm_{*this};
  std::map<task_id, std::shared_ptr<task>> tasks_;
  std::map<uint64_t, answered> orders_; ///< by token
  uint64_t last_order_ = 0;
  std::map<produce::stream_key, route> routes_;
  std::map<std::pair<const connection*, uint32_t>, produce::stream_key> by_channel_;
  uint64_t last_key_ = 0;
  /// The cache windows of this process; made when the process starts.
  std::shared_ptr<window_store> windows_;
  std::map<save_id, uint64_t> saves_; ///< the number of the order whose step runs
};

} // namespace headrace::detail::test
