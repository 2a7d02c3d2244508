#pragma once

#include <cstdint>
#include <optional>

namespace headrace {

/// All that a run was given of a source up to a place, in the order in which it was given it, is
/// done with: read, and nothing of it is held.
struct splits_done {
  uint32_t source = 0; ///< in depth-first order
  uint64_t pass = 0;   ///< earlier passes are done with
  /// What comes before this split; nullopt: nothing of that pass.
  std::optional<uint64_t> split = {};
  bool through = false; ///< and this split, too
  friend bool operator==(const splits_done&, const splits_done&) = default;
};

} // namespace headrace
