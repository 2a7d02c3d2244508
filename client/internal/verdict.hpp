#pragma once

#include "headrace/client/service_status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

/// The part of a service that bounds the rate at which a job's trainers get elements.
enum class slow_part : uint8_t {
  unknown,  ///< unknown so far: no trainer or no task has run for some seconds
  trainers, ///< the trainers: they hardly wait
  trainer,  ///< one trainer, for which the others wait
  op,       ///< an operator that computes
  storage,  ///< files from which an operator reads
  leases,   ///< the dispatcher, which leases splits
  memory,   ///< the memory that the graph may use to read ahead
  link,     ///< the connections between workers and trainers
  worker,   ///< one worker, which is slower than the others
  no_worker ///< no worker runs the job
};
std::string_view to_string(slow_part x) noexcept;

/// The cause for which the trainers of a job wait, found in the reports of trainers, tasks and
/// operators about the last seconds.
struct verdict {
  uint64_t job = 0;
  slow_part cause = slow_part::unknown;
  std::string trainer; ///< the trainer with the longest waits
  double waited = 0;   ///< the share of the time in which that trainer waited
  /// The name of the operator, the address of the worker, or the name of the trainer to which the
  /// cause belongs; empty for other causes.
  std::string what;
  /// If the cause belongs to an operator (`op`, `storage` or `memory`): its place in the result of
  /// `operators_of`, as several operators may have one name.
  std::optional<size_t> place;
  double share = 0; ///< the mean share of the time that the cause took on `workers` workers
  /// For an operator: the part of `share` in which its calls waited for a thread.
  double queued = 0;
  uint32_t workers = 0; ///< the number of workers on which this cause was found
  uint32_t running = 0; ///< the number of workers that run the job
  /// The number of workers with which no trainer would wait; 0: more workers would not help, or the
  /// number is not known.
  uint32_t wanted = 0;
  bool at_least = false; ///< the number of workers that are needed may be larger than `wanted`
  std::string text;      ///< one sentence, for users
};

/// A trainer that waits for less than this share of the time counts as one that hardly waits.
inline constexpr double hardly_waits = 0.1;

/// Computes the verdict on one job of a status. A pure function.
verdict verdict_of(const job_status& job, const service_status& in);

/// The operators of a job: means of the shares, and sums of the rates, over its tasks that run the
/// same number of operators as the first. Empty if no task runs.
std::vector<operator_status> operators_of(const job_status& job);

} // namespace headrace::detail
