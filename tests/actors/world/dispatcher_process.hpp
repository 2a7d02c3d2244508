#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "tests/actors/world/control.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace headrace::worker {
struct heartbeat;
}

namespace headrace::test {

class world;

/// The dispatcher's process: its core, a job_core for each job, and around them what
/// dispatcher_state and job_state do.
class dispatcher_process final : public virtual_process {
public:
  explicit dispatcher_process(world& in);

  /// A job's actor dies; the next one has what was stored.
  void crash_a_job();
  size_t jobs() const noexcept { return jobs_.size(); }

  // -- called at this process by others -----------------------------------------------------

  template <class T>
  using answered = std::function<void(const T&)>;
  void accepted(const connection_end& at);
  void open(const open_iteration& what, const connection_end& from,
            answered<result<iteration_view>> reply);
  void heartbeat(const reader_of& who, const connection_end& from, answered<status> reply);
  void leave(const reader_of& who);
  void register_worker(const worker_registration& who, const connection_end& from,
                       answered<result<worker_registered>> reply);
  void worker_heartbeat(const headrace::worker::heartbeat& what, answered<status> reply);
  void worker_leaves(worker_id id, incarnation life);
  void lease(const splits_request& what, answered<result<splits_answer>> reply);
  void task_ended(const task_end& what, answered<status> reply);

private:
  struct job {
    std::unique_ptr<job_core> core;
    std::shared_ptr<memory_store<job_record>> store;
    std::unique_ptr<virtual_alarm> alarm;
    std::map<consumer_id, connection_end> readers;
    std::map<request_token, splits_request> leases; ///< that are asked
    bool ended = false;
  };
  using waiting = std::variant<answered<result<iteration_view>>, answered<status>,
                               answered<result<splits_answer>>>;
  void on_started() override;
  void on_killed() override;
  job* find(job_id id);
  void start_job(job& what);
  request_token keep(waiting what);
  void worker_changed(const worker_info& who, bool lost);
  void look_at_leases();

  void carry_out(job_id id, const job_commands& what);
  void carry_out(job& of, const job_command::store& what);
  void carry_out(job& of, const job_command::answer& what);
  void carry_out(job& of, const job_command::start_task& what);
  void carry_out(job& of, const job_command::stop_task& what);
  void carry_out(job& of, const job_command::announce& what);
  void carry_out(job& of, const job_command::drop_reader& what);
  void carry_out(job&, const log_line&) {}
  void carry_out(job& of, const job_command::ended& what);

  world& world_;
  std::unique_ptr<worker_table> workers_;
  std::map<worker_id, connection_end> worker_ends_;
  std::map<job_id, job> jobs_;
  std::map<std::string, job_id> by_key_;
  std::map<request_token, waiting> waiting_;
  uint64_t last_token_ = 0;
  virtual_alarm alarm_{*this};
};

} // namespace headrace::test
