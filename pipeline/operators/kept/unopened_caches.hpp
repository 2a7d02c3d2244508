#pragma once

#include "headrace/pipeline/engine/engine.hpp"

namespace headrace::detail {

/// Saves the caches in memory below inputs that an operator opens later, or again. The rows of
/// these inputs depend on the kept elements, and no iterator below could save these. So the
/// operator's position contains them.
class unopened_caches {
public:
  unopened_caches(engine& shared, const dataset_node& node, const place& at);

  /// Appends a part for each cache below the inputs from `first` on.
  void save_to(position& to, size_t first = 0) const;
  /// From now on the caches return the elements that they returned at that position.
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
