#pragma once

#include "headrace/pipeline/types/sharding_policy.hpp"

#include <cstdint>
#include <string>

namespace headrace {

/// What a repetition lacks, or gave only in part, because workers were lost, or trainers that held
/// rows of workers that are gone: as far as its job can know.
struct iteration_losses {
  uint64_t tasks = 0; ///< that are lost, with rows that no reader got
  /// Splits of which rows may be missing; at most so many. Under OFF none are counted: the copy
  /// of each lost task ended early. None either of tasks whose rows came from other jobs alone.
  uint64_t splits = 0;
  /// Splits of lost tasks, or that readers which are gone held, that are for others.
  uint64_t reread = 0;
  /// Elements that were with a trainer when it was gone without a word, and that no other is given:
  /// it may have been handed them, or their worker had gone before; at most so many.
  uint64_t elements = 0;
  /// Of `reread`: splits of which rows may have been handed out before.
  uint64_t repeated = 0;

  iteration_losses& operator+=(const iteration_losses& more);
  friend bool operator==(const iteration_losses&, const iteration_losses&) = default;
};

/// What a trainer should know of them, in one sentence; empty if nothing is lost nor may have come
/// twice.
std::string describe(const iteration_losses& what, sharding_policy mode);

} // namespace headrace
