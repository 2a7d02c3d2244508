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
  /// of each lost task ended early.
  uint64_t splits = 0;
  uint64_t reread = 0; ///< splits of lost tasks that reached no reader, and are for others
  /// Elements of workers that were gone by then, that a trainer held when it was gone, too; at most
  /// so many.
  uint64_t elements = 0;

  friend bool operator==(const iteration_losses&, const iteration_losses&) = default;
};

/// What a trainer should know of them, in one sentence; empty if nothing is lost.
std::string describe(const iteration_losses& what, sharding_policy mode);

} // namespace headrace
