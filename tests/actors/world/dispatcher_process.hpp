#pragma once

#include "headrace/actors/dispatcher/dispatcher_core.hpp"
#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/store/step_queue.hpp"
#include "tests/actors/world/control.hpp"
#include "tests/actors/world/virtual_disk.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

namespace headrace::detail::worker {
struct heartbeat;
struct ask_save_steps;
} // namespace headrace::detail::worker

namespace headrace::detail::test {

class world;
class worker_process;

/// A simulated process of a dispatcher: its core, and a job_core for each job. It also does the
/// work that the actors `dispatcher_state` and `job_state` do in a real process.
class dispatcher_process final : public virtual_process {
public:
  explicit dispatcher_process(world& in);

  /// Starts the process again with all that was stored. @pre the process is dead
  void start_again() {
    keeps_state_ = true;
    start();
  }
  /// Crashes the actor of a job. Another actor replaces it, and begins with the stored record.
  void crash_a_job();
  /// Crashes the dispatcher's actor. Another actor replaces it, and begins with the stored record.
  void crash();
  size_t jobs() const noexcept { return jobs_.size(); }

  // -- called at this process by others -----------------------------------------------------

  template <class T>
  using answered = std::function<void(const T&)>;
  void accepted(const connection_end& at);
  void open(const open_iteration& what, const connection_end& from,
            answered<result<iteration_view>> reply);
  void heartbeat(const reader_heartbeat& what, const connection_end& from, answered<status> reply);
  void leave(const leave_iteration& what, answered<status> reply);
  void register_worker(const worker_registration& who, const connection_end& from,
                       answered<result<worker_registered>> reply);
  void worker_heartbeat(const detail::worker::heartbeat& what,
                        answered<result<heartbeat_heard>> reply);
  void worker_leaves(worker_id id, incarnation life, uint32_t unfinished);
  void ask_save_steps(const detail::worker::ask_save_steps& what,
                      answered<result<save_steps>> reply);
  /// Requests the save of the world's dataset into the world's folder, as a client does.
  void save(answered<result<save_view>> reply);
  std::vector<save_view> saves() const { return core_ ? core_->saves() : std::vector<save_view>{}; }
  void drain(const drain_request& what, answered<result<worker_drains>> reply);
  void lease(const splits_request& what, answered<result<lease_answer>> reply);
  void task_ended(const task_end& what, answered<status> reply);

private:
  struct job {
    std::unique_ptr<job_core> core;
    std::shared_ptr<virtual_store<job_record>> store;
    uint64_t writer = 0; ///< identifies `core` as a writer of `store`
    step_queue<job_commands::value_type> steps;
    std::unique_ptr<virtual_alarm> alarm;
    std::map<consumer_id, connection_end> readers;
  };
  /// A request without an answer so far. `to_job` passes the request to its job.
  struct waiting {
    std::variant<answered<result<iteration_view>>, answered<status>, answered<result<lease_answer>>,
                 answered<result<worker_registered>>, answered<result<heartbeat_heard>>,
                 answered<result<worker_drains>>, answered<result<save_steps>>,
                 answered<result<save_view>>>
      reply;
    connection_end from;
    std::function<job_commands(job&, request_token)> to_job;
  };
  void on_started() override;
  void on_killed() override;
  void begin();
  std::shared_ptr<virtual_store<job_record>> store_of(job_id id, const job_past& past);
  /// Records for the judge which facts of a job are stored.
  void note(job_id id, const job_record::fact& kept);
  job* find(job_id id);
  void start_job(job_id id, const job_description& about);
  request_token keep(waiting what);
  worker_process* worker(worker_id id) const;
  template <class F>
  void answer(request_token to, F&& with) {
    if (auto node = waiting_.extract(to))
      std::visit(std::forward<F>(with), node.mapped().reply);
  }

  void carry_out(dispatcher_commands what);
  void take(const dispatcher_commands::value_type& what);
  void carry_out(const dispatcher_command::store& what);
  void carry_out(const dispatcher_command::answer& what);
  void carry_out(const dispatcher_command::to_job& what);
  void carry_out(const dispatcher_command::run_job& what);
  void carry_out(const dispatcher_command::drop_job& what);
  void carry_out(const dispatcher_command::worker_changed& what);
  void carry_out(const dispatcher_command::keep_worker& what);
  void carry_out(const dispatcher_command::drop_worker& what);
  void carry_out(const dispatcher_command::keep_report&) {}
  void carry_out(const dispatcher_command::stop_task& what);
  void carry_out(const dispatcher_command::offer_saves& what);
  void carry_out(const dispatcher_command::watch_asker&) {}
  void carry_out(const log_line&) {}

  void carry_out(job_id id, job_commands what);
  void take(const std::shared_ptr<job>& of, const job_commands::value_type& what);
  void to_job(job_id id, const std::function<job_commands(job_core&)>& event);
  /// Sends an order of a job to a worker. `heard` is called with the answer, or with nullopt if no
  /// answer arrives in time.
  void order(job& of, worker_id who,
             std::function<void(worker_process&, const std::function<void(const status&)>&)> what,
             std::function<void(const std::optional<status>&)> heard);

  void carry_out(job& of, const job_command::store& what);
  void carry_out(job& of, const job_command::answer& what);
  void carry_out(job& of, const job_command::start_task& what);
  void carry_out(job& of, const job_command::stop_task& what);
  void carry_out(job& of, const job_command::name_readers& what);
  void carry_out(job& of, const job_command::announce& what);
  void carry_out(job& of, const job_command::drop_reader& what);
  void carry_out(job&, const log_line&) {}
  void carry_out(job& of, const job_command::ended& what);

  world& world_;
  std::unique_ptr<dispatcher_core> core_;
  virtual_disk disk_{*this};
  std::shared_ptr<virtual_store<service_record>> store_;
  uint64_t writer_ = 0; ///< identifies `core_` as a writer of `store_`
  std::map<job_id, std::shared_ptr<virtual_store<job_record>>> job_stores_;
  bool keeps_state_ = false;
  step_queue<dispatcher_commands::value_type> steps_;
  std::map<worker_id, connection_end> worker_ends_;
  std::map<job_id, std::shared_ptr<job>> jobs_;
  std::map<request_token, waiting> waiting_;
  uint64_t last_token_ = 0;
  virtual_alarm alarm_{*this};
};

} // namespace headrace::detail::test
