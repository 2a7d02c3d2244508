#pragma once

#include "headrace/actors/job/worker_info.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headrace {

enum class processing_mode : uint8_t { off, dynamic };

/// One repetition of a job: who works on it, who reads it, and when it is over. Pure: takes events,
/// gives commands. The splits are the split_assigner's business; it hears of tasks from here.
class iteration {
public:
  enum class task_state : uint8_t { starting, running, ended, failed, lost };
  struct task {
    task_id id;
    incarnation life;
    worker_info worker;
    task_state state = task_state::starting;
    uint64_t elements = 0; ///< when ended
  };
  /// What is to be done after an event, in this order.
  struct commands {
    std::vector<task> stop;
    std::vector<task> start;
    /// Tasks that are gone with their splits.
    std::vector<task_id> forget;
    /// The readers should be told the new state.
    bool announce = false;
    void add(commands more);
  };

  /// `first_task`: task ids are counted up from here, in a range that no other iteration uses.
  iteration(processing_mode mode, uint64_t repetition, uint64_t first_task)
    : mode_(mode), repetition_(repetition), last_task_(first_task) {}

  // -- events -----------------------------------------------------------------

  commands consumer_joined(consumer_id who, const std::vector<worker_info>& alive, time_point now);
  commands consumer_left(consumer_id who);
  /// False: it is not (or no longer) a reader.
  bool consumer_renewed(consumer_id who, time_point now);
  /// Readers not heard of since `now - lease` leave.
  std::vector<consumer_id> silent_consumers(time_point now, duration lease) const;
  std::optional<time_point> oldest_renewal() const;

  commands worker_joined(const worker_info& who);
  commands worker_lost(worker_id who);
  /// The worker has the task, or could not take it.
  commands task_started(task_id id, const status& how);
  /// The task has given all it had to its readers, or has failed.
  commands task_ended(task_id id, incarnation life, uint64_t elements, const status& how);

  /// Nobody reads any more: all tasks stop.
  commands cancel();

  // -- state --------------------------------------------------------------------

  uint64_t repetition() const noexcept { return repetition_; }
  uint64_t version() const noexcept { return version_; }
  bool finished() const noexcept { return finished_; }
  const status& failure() const noexcept { return failure_; }
  const std::map<task_id, task>& tasks() const noexcept { return tasks_; }
  size_t consumers() const noexcept { return consumers_.size(); }
  bool reads(consumer_id who) const { return consumers_.contains(who); }
  std::vector<consumer_id> readers() const;

private:
  commands start_on(const worker_info& who);
  /// Decides whether this was the end.
  void conclude(commands& out);

  processing_mode mode_;
  uint64_t repetition_;
  uint64_t last_task_;
  uint64_t version_ = 1;
  bool opened_ = false;
  bool finished_ = false;
  status failure_;
  std::map<task_id, task> tasks_;
  std::map<consumer_id, time_point> consumers_;
};

std::string_view to_string(iteration::task_state state) noexcept;

} // namespace headrace
