#pragma once

#include "headrace/pipeline/types/sharding_policy.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// The losses of a repetition that were reported to the job. They are caused by lost workers, and
/// by lost readers that had claimed rows, or held rows of workers that are gone.
struct iteration_losses {
  /// The number of lost tasks: under DYNAMIC, only those of which rows may be missing. Under a
  /// static policy, tasks that left before the end of their shards are counted, too.
  uint64_t tasks = 0;
  /// The number of splits of which rows may be missing; an upper bound. Under OFF no splits are
  /// counted, because each task reads the whole dataset, and a lost task only ends its own reading
  /// early. Rows that a task read from other jobs are not counted, as they descend from no split.
  uint64_t splits = 0;
  /// Splits of lost tasks, and splits of rows that lost readers held, which are read again.
  uint64_t reread = 0;
  /// Elements that a lost reader had claimed, had received from a worker that is gone, or has
  /// missed in coordinated reads, and that no other reader is given; an upper bound.
  uint64_t elements = 0;
  /// the splits among `reread` of which rows may have been handed out before
  uint64_t repeated = 0;

  iteration_losses& operator+=(const iteration_losses& more);
  friend bool operator==(const iteration_losses&, const iteration_losses&) = default;
};

/// A sentence for the trainer; empty if nothing is lost and nothing may have been handed out twice.
/// `cached`: trainers share the elements through a cross-trainer cache, and each reads all of them.
std::string describe(const iteration_losses& what, sharding_policy mode, bool cached = false);

} // namespace headrace::detail
