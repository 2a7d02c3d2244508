#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/lease/lease_table.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headrace::detail {

/// The workers of a service and their leases. A worker is alive from its registration until it
/// leaves, is replaced, or has sent no heartbeat for a lease. A worker whose connection is lost
/// stays alive until then.
class worker_table {
public:
  struct record {
    worker_info info;
    time_point last_heard;
    bool alive = true;
    bool left = false;     ///< not alive, and left in order
    bool connected = true; ///< no loss of the connection was reported
    uint32_t tasks = 0;    ///< the number of its tasks, as last reported
    /// Set when the worker left: the number of its tasks that had not given everything when the
    /// time to drain was over.
    uint32_t unfinished = 0;
  };
  /// How long workers that are not alive are kept in the table.
  static constexpr duration remembered = std::chrono::minutes{10};

  /// The result of a registration.
  struct registered {
    worker_id id;
    /// The worker was unknown or lost, or is a new process: jobs must be notified.
    bool joined = false;
    /// An earlier incarnation with the same id or data address, which this registration ends: jobs
    /// must be notified of its end before they are notified of the new worker.
    std::optional<worker_info> replaced;
  };

  /// `last`: the highest number that a worker had before.
  explicit worker_table(lease_timing timing, worker_id last = {})
    : timing_(timing), leases_(timing.lease), last_(last.value) {}

  /// The living worker, other than `who`, that has the data address of `who` and may still be
  /// running. Consumers of one of the two could reach the other. Null if there is none.
  const worker_info* rival(const worker_info& who) const;
  /// The connection to that incarnation of the worker was lost. The worker stays alive, but another
  /// process may take its data address.
  void disconnected(worker_id id, incarnation life);
  /// A worker registers. `info.id` is 0, or the number that the worker has. The worker keeps that
  /// number, unless another worker has it, which is possible after the dispatcher lost its state.
  registered add(worker_info info, time_point now);
  /// Records a heartbeat. Returns false if the worker is unknown or lost, or has another
  /// incarnation: then it must register again.
  bool renew(worker_id id, incarnation life, time_point now);
  /// Records the number of tasks that the worker has reported. @pre the worker is in the table
  void runs(worker_id id, size_t tasks) { workers_.at(id).tasks = static_cast<uint32_t>(tasks); }
  /// Records that the worker is about to leave. Returns its new info; nullopt: it is not alive, or
  /// was about to leave before.
  std::optional<worker_info> drain(worker_id id);
  /// Records that the worker left in order. nullopt: that incarnation of it is not alive.
  std::optional<worker_info> leave(worker_id id, incarnation life, uint32_t unfinished = 0);
  /// The workers whose leases have expired by `now`. Each is returned once. Also removes workers
  /// that are not alive and have sent nothing for the time `remembered`.
  std::vector<worker_info> expire(time_point now);
  /// When to call `expire` at the latest.
  std::optional<time_point> next_deadline() const;
  const std::map<worker_id, record>& all() const noexcept { return workers_; }
  std::vector<worker_info> alive() const;
  /// The number of workers that are alive and not about to leave.
  size_t ready() const noexcept;
  const lease_timing& timing() const noexcept { return timing_; }

private:
  lease_timing timing_;
  lease_table<worker_id> leases_; ///< of living workers
  std::map<worker_id, record> workers_;
  uint64_t last_ = 0;
};

} // namespace headrace::detail
