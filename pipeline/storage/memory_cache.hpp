#pragma once

#include "headrace/pipeline/iterator/position.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace {

/// Which pass over which elements: what they depend on, besides the graph.
struct pass_place {
  uint64_t seed = 0, repetition = 0, path = 0, iteration = 0;
  friend bool operator==(const pass_place&, const pass_place&) = default;
};

/// A pass of which all elements are kept.
struct kept_pass {
  pass_place from;
  position_ptr begin; ///< before the first of them
};

/// All elements of one pass.
struct kept_rows : kept_pass {
  std::vector<block> blocks;
};

/// What a cache in memory holds for all iterations in a process: a pass, once it is whole.
/// Thread-safe.
class memory_cache {
public:
  /// Null: nothing yet.
  std::shared_ptr<const kept_rows> whole() const {
    std::lock_guard lock{mutex_};
    return rows_;
  }
  /// Of several passes that ran at once, the first to end stays.
  void publish(std::shared_ptr<const kept_rows> rows) {
    std::lock_guard lock{mutex_};
    if (!rows_)
      rows_ = std::move(rows);
  }

private:
  mutable std::mutex mutex_;
  std::shared_ptr<const kept_rows> rows_;
};

/// The memory of one run's caches: they begin empty, whatever other runs of the same graph have
/// kept, and go with the run. Thread-safe.
class run_caches {
public:
  /// `whole`: it is read where splits are not shared, see `place::whole`.
  std::shared_ptr<memory_cache> of(const dataset_node& node, bool whole) {
    std::lock_guard lock{mutex_};
    auto& known = caches_[{&node, whole}];
    if (!known)
      known = std::make_shared<memory_cache>();
    return known;
  }

private:
  std::mutex mutex_;
  std::map<std::pair<const dataset_node*, bool>, std::shared_ptr<memory_cache>> caches_;
};

} // namespace headrace
