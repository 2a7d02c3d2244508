#pragma once

#include <cstdint>
#include <optional>

namespace headrace::detail {

/// All splits of a source up to a place are done, in the order in which a run was given them: they
/// were read, and no row of them is held.
struct splits_done {
  uint32_t source = 0; ///< in depth-first order
  uint64_t pass = 0;   ///< the splits of earlier passes are done
  /// Earlier splits of this pass are done; nullopt: no split of this pass is.
  std::optional<uint64_t> split = {};
  bool through = false; ///< this split is done, too
  friend bool operator==(const splits_done&, const splits_done&) = default;
};

} // namespace headrace::detail
