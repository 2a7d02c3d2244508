#pragma once

#include <cstdint>
#include <optional>

namespace headrace::detail {

/// The splits of a source that are done, which means that they were read, and no iterator holds a
/// row of them. They are all splits up to a certain one, in the order in which the run got them.
struct splits_done {
  uint32_t source = 0; ///< the number of the source in depth-first order
  uint64_t pass = 0;   ///< the splits of earlier passes are done
  /// The splits of this pass before `split` are done; nullopt: no split of this pass is done.
  std::optional<uint64_t> split = {};
  bool through = false; ///< `split` itself is done, too
  friend bool operator==(const splits_done&, const splits_done&) = default;
};

} // namespace headrace::detail
