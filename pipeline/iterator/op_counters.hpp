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
  std::atomic<uint64_t> rows{0};         ///< the rows that the operator returned
  std::atomic<uint64_t> blocks{0};       ///< the blocks that the operator returned
  std::atomic<uint64_t> kernel_calls{0}; ///< the calls of kernels on columns
  std::atomic<uint64_t> bytes{0};        ///< the bytes of the rows that the operator returned
  std::atomic<uint64_t> time_ns{0};      ///< the time in the operator's `next`
  std::atomic<uint64_t> below_ns{0};     ///< the time in `next` of operators below, on any thread
  std::atomic<uint64_t> work_ns{0};      ///< the time in calls that may run on other threads
  /// The time in which the operator itself, not an operator below it, waited for splits of a job,
  /// and for files.
  std::atomic<uint64_t> lease_ns{0}, storage_ns{0};
  /// The time in which the operator could read nothing ahead, because the graph's memory was used
  /// up.
  std::atomic<uint64_t> memory_ns{0};
  /// The number of calls of the operator's function that may run at the same time at present; 0:
  /// the operator has no such number.
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> ignored{0}; ///< the error rows that `ignore_errors` left out
  /// For operators that work ahead: the number of samples of their queue, and the sum over these
  /// samples of the number of blocks that were ready or in work.
  std::atomic<uint64_t> samples{0}, queued{0};
  /// The counters of the operator that reads the rows of this operator; set by the owner of both
  /// counters. Null for the outermost operator.
  op_counters* user = nullptr;
  std::atomic<std::thread::id> thread{}; ///< the thread that called the operator's `next` last
  /// The start of the call of `next` that has not returned, as a time since the clock's epoch; 0:
  /// there is no such call. The times above do not include this call.
  std::atomic<int64_t> since_ns{0};
  wait_under_way waits; ///< the waits of the call of `next` that has not returned
  /// Called with each block that the operator returns and the time that the call of `next` took, on
  /// the thread of that call. Set by the counters' owner; may be empty.
  std::function<void(const block&, uint64_t ns)> given;
};

} // namespace headrace::detail
