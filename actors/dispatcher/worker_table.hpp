#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/lease/lease_table.hpp"

#include <map>
#include <optional>

namespace headrace {

/// The workers of a service and their leases. A worker is alive from its registration until a whole
/// lease passes without a word from it; a lost connection alone changes nothing.
class worker_table {
public:
  struct record {
    worker_info info;
    time_point last_heard;
    bool alive = true;
    bool left = false;     ///< not alive, and ended in order
    bool connected = true; ///< nothing is known against it
    uint32_t tasks = 0;    ///< that it last said to have
    /// It left: tasks that had more to give when its time to drain was over.
    uint32_t unfinished = 0;
  };
  /// For how long workers that are not alive are remembered.
  static constexpr duration remembered = std::chrono::minutes{10};

  /// What a registration changes.
  struct registered {
    worker_id id;
    /// The worker was unknown or lost, or is a new process: jobs hear of it.
    bool joined = false;
    /// An earlier life under the same id or data address ended with this: jobs hear of that first.
    std::optional<worker_info> replaced;
  };

  /// Numbers up to `last` were given to workers before.
  explicit worker_table(lease_timing timing, worker_id last = {})
    : timing_(timing),
      leases_({.heartbeat = timing.heartbeat, .lease = timing.lease}),
      last_(last.value) {}

  /// The living worker, another than `who`, that has the data address of `who` and may still be
  /// there: the two would take each other's consumers. Null if there is none.
  const worker_info* rival(const worker_info& who) const;
  /// The connection to that life of it was lost: no more than that, but another process may have
  /// its data address.
  void disconnected(worker_id id, incarnation life);
  /// A worker says who it is. `info.id` is 0 or what it was given before, which it keeps. If that
  /// was by a dispatcher that lost its state, another worker may have that number by now.
  registered add(worker_info info, time_point now);
  /// A sign of life. False: unknown, lost or another life; it must register again.
  bool renew(worker_id id, incarnation life, time_point now);
  /// What it last said of its tasks. @pre it is known
  void runs(worker_id id, size_t tasks) { workers_.at(id).tasks = static_cast<uint32_t>(tasks); }
  /// It is about to leave. nullopt: it is not alive, or that is known. Else what it is now.
  std::optional<worker_info> drain(worker_id id);
  /// It ends in order. nullopt: that life of it is not alive anyway.
  std::optional<worker_info> leave(worker_id id, incarnation life, uint32_t unfinished = 0);
  /// Workers whose lease has ended by `now`; each is told once. Forgets the ones of old.
  std::vector<worker_info> expire(time_point now);
  /// When to call `expire` at the latest.
  std::optional<time_point> next_deadline() const;
  const std::map<worker_id, record>& all() const noexcept { return workers_; }
  std::vector<worker_info> alive() const;
  /// How many are alive and take new tasks: those that are about to leave take none.
  size_t ready() const noexcept;
  const lease_timing& timing() const noexcept { return timing_; }

private:
  lease_timing timing_;
  lease_table<worker_id> leases_; ///< of those that are alive
  std::map<worker_id, record> workers_;
  uint64_t last_ = 0;
};

} // namespace headrace
