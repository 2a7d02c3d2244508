#pragma once

#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/thread_waits.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace headrace::detail {

/// Measurements of one operator node: for benchmarks, `explain`, and the status of a service. Times
/// are in nanoseconds.
struct op_counters {
  std::atomic<uint64_t> rows{0};         ///< rows that were given
  std::atomic<uint64_t> blocks{0};       ///< blocks that were given
  std::atomic<uint64_t> kernel_calls{0}; ///< column kernels run
  std::atomic<uint64_t> bytes{0};        ///< the bytes of these rows
  std::atomic<uint64_t> time_ns{0};      ///< the time in its `next`
  std::atomic<uint64_t> below_ns{0};     ///< the time in `next` of operators below, on any thread
  std::atomic<uint64_t> work_ns{0};      ///< the time in calls that may run on other threads
  /// The time in which it waited for splits of a job, and for files, without that of operators
  /// below.
  std::atomic<uint64_t> lease_ns{0}, storage_ns{0};
  /// The time in which it could read nothing ahead, because the graph's memory was used up.
  std::atomic<uint64_t> memory_ns{0};
  /// The number of calls of its function that may run at the same time at present; 0: the operator
  /// has no such number.
  std::atomic<uint64_t> calls{0};
  /// For operators that work ahead: the number of samples, and the sum over these of the blocks
  /// that were ready or in work.
  std::atomic<uint64_t> samples{0}, queued{0};
  /// Counters of the operator that uses this one; set by the counters' owner.
  op_counters* user = nullptr;
  std::atomic<std::thread::id> thread{}; ///< the thread that called its `next` last
  /// The start of the call of `next` that has not returned, as a time since the clock's epoch; 0:
  /// there is no such call. The times above are those of calls that have returned.
  std::atomic<int64_t> since_ns{0};
  wait_under_way waits; ///< the waits of that call
  /// Called with each block that the operator returns and the time that the call of `next` took, on
  /// the thread of that call. Set by the counters' owner; may be empty.
  std::function<void(const block&, uint64_t ns)> given;
};

} // namespace headrace::detail
