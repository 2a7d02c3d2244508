#pragma once

#include "headrace/actors/task/split_log.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <memory>

namespace headrace {

/// Pulls one pipeline on a thread of its own and gives the blocks away, never more than it may have
/// outstanding.
///
/// Dropping the handle asks the thread to stop and does not wait for it: a thread that is stuck in
/// foreign code is abandoned, and what it still says is not heard. `stuck()` counts those that have
/// not ended yet.
class runner {
public:
  struct options {
    dataset_ptr graph;
    uint64_t seed = 0;
    uint64_t repetition = 0;
    bool leases_splits = false;        ///< DYNAMIC
    split_log replay;                  ///< what an earlier runner of this task was given
    uint64_t skip_rows = 0;            ///< what it had given away already
    size_t most_outstanding = 8 << 20; ///< bytes given and not taken
  };
  /// Called on the runner's thread, in order. They must not block.
  struct callbacks {
    std::function<void(block)> produced;
    std::function<void(status)> ended;
    /// The answer comes through `give_splits`.
    std::function<void(uint32_t source, uint64_t pass, std::optional<uint64_t> total)> wants_splits;
  };

  runner(options what, callbacks hear);
  ~runner();
  runner(const runner&) = delete;

  /// Bytes of blocks that were taken off our hands.
  void taken(size_t bytes);
  /// nullopt: that pass of that source is over.
  void give_splits(result<std::optional<split_range>> what);

  /// Runner threads of this process that were told to stop and have not ended.
  static size_t stuck() noexcept;

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace
