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
  std::atomic<uint64_t> bytes{0};        ///< in the given rows
  std::atomic<uint64_t> time_ns{0};      ///< in its `next`
  std::atomic<uint64_t> below_ns{0}; ///< the part of that in the `next` of operators that it uses
  std::atomic<uint64_t> work_ns{0};  ///< in its function, on other threads
  /// Parts of its own time in `next`: waiting for splits of a job, and for files.
  std::atomic<uint64_t> lease_ns{0}, storage_ns{0};
  /// In which it could read nothing ahead, as the graph's memory was used up.
  std::atomic<uint64_t> memory_ns{0};
  /// How many calls of its function may run at a time at present; 0: it has no such number.
  std::atomic<uint64_t> calls{0};
  /// For operators that work ahead: the number of samples, and the sum over these of the blocks
  /// that were ready or in work.
  std::atomic<uint64_t> samples{0}, queued{0};
  /// Counters of the operator that uses this one; set by the counters' owner.
  op_counters* user = nullptr;
  std::atomic<std::thread::id> thread{}; ///< the thread that is in its `next`
  /// When the call of `next` began that has not returned, since the clock's epoch; 0: there is
  /// none. The times above are those of calls that have.
  std::atomic<int64_t> since_ns{0};
  wait_under_way waits; ///< of that call
  /// Called with each block that it gives, and how long its `next` took, on the thread that reads
  /// it. Set by the counters' owner; may be empty.
  std::function<void(const block&, uint64_t ns)> given;
};

} // namespace headrace::detail
