#pragma once

#include "headrace/actors/stream/compression_choice.hpp"
#include "headrace/actors/task/task_core.hpp"
#include "headrace/runtime/link/link.hpp"

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The part of a task that outlives its actor: its core, and the links of its streams. The worker
/// owns it.
///
/// The task's actor and the thread of its runner use it in turn, each while it has locked `mutex`.
/// Each sends the messages that its events cause before it unlocks, so that the messages of a
/// stream leave in their order.
struct task_memory {
  struct route {
    std::shared_ptr<link> over;
    uint32_t channel = 0;
    compression_choice packing;
  };

  explicit task_memory(task_core what) : core(std::move(what)) {}

  /// Reports on all streams that the task is given up because of `why`.
  void give_up(const status& why);
  /// Sends the messages among these commands, and closes links, in order. Returns the commands that
  /// are for the actor. @pre the mutex is locked
  produce::commands send(produce::commands what, time_point now);
  /// Deals the rows in `waiting` and sends them. Returns the commands that are for the actor. @pre
  /// the mutex is locked
  produce::commands deal_waiting(time_point now);

  std::mutex mutex;
  task_core core;
  std::map<produce::stream_key, route> routes;
  std::map<std::pair<const link*, uint32_t>, produce::stream_key> by_channel;
  uint64_t last_key = 0;

  uint64_t actors = 0; ///< the number of actors that the task has had
  /// The number of the present actor; 0: there is none, or it ends because an event threw.
  uint64_t actor = 0;
  // The following members are set while there is an actor.
  std::function<time_point()> now;
  std::function<void()> announce; ///< sends the actor the event `work_left`
  /// The time of the actor's next reminder.
  std::optional<time_point> reminder;

  /// Rows of a runner that are not dealt yet.
  struct waiting_rows {
    uint64_t run = 0; ///< the number of the runner
    block rows;
  };

  // The runner's thread leaves the following to the actor, and calls `announce`.
  std::vector<waiting_rows> waiting;
  produce::commands left;
  std::exception_ptr thrown; ///< the exception that dealing rows threw; the actor ends with it
  bool announced = false;    ///< `work_left` was sent and has not arrived

private:
  void append_to(produce::commands& rest, produce::commands what, time_point now);
  void send(const produce::send& what);
  void send(route& to, const stream_block& what);
  /// Set when a row was too large to be sent.
  std::optional<status> too_large_;
};

/// Deals rows on the thread of the runner with the number `run`, and sends them as far as the
/// consumers have given credit. `took`: the time in which the rows were produced. If that is 1 ns a
/// byte or more, the rows are left to the actor, so that they are sent while the runner produces
/// the next ones. If any consumer of the task is in this process, all rows are left to the actor,
/// too. Returns the number of bytes of the runner that are no longer outstanding. Does nothing if
/// another actor than `actor` uses the memory, or another runner runs: that runner produces the
/// rows again.
size_t deal_rows(task_memory& of, uint64_t actor, uint64_t run, block rows, duration took);

} // namespace headrace::detail
