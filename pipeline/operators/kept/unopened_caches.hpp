#pragma once

#include "headrace/pipeline/engine/engine.hpp"

namespace headrace::detail {

/// Saves the state of caches in memory that are below inputs which an operator has not opened yet,
/// or opens again. The rows of these inputs depend on the passes that the caches keep. There are no
/// iterators below that could save the passes, so the position of the operator contains them.
class unopened_caches {
public:
  unopened_caches(engine& shared, const dataset_node& node, const place& at);

  /// Appends a part for each cache below the inputs from `first` on.
  void save_to(position& to, size_t first = 0) const;
  /// Sets for each cache the pass that it must return from now on: the pass that it had when the
  /// position was saved, if there was one.
  void restore(position_reader& from, size_t first = 0) const;

private:
  struct cache {
    size_t input; ///< the index of the input below which the cache is
    std::shared_ptr<memory_cache> holds;
  };

  engine& engine_;
  std::vector<cache> caches_;
};

} // namespace headrace::detail
