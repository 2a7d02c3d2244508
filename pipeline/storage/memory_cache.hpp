#pragma once

#include "headrace/pipeline/iterator/position.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Identifies a pass: the values on which its elements depend, in addition to the graph.
struct pass_place {
  uint64_t seed = 0, repetition = 0, path = 0, iteration = 0;
  /// A random number for this reading of the pass, if the order of its elements depends on time;
  /// else 0.
  uint64_t order = 0;
  friend bool operator==(const pass_place&, const pass_place&) = default;
};

/// A pass that a cache keeps, and returns again in later passes and iterations.
struct kept_pass {
  pass_place from;
  position_ptr begin; ///< the position before the first element
};

/// All elements of one pass.
struct kept_rows : kept_pass {
  std::vector<block> blocks;
};

/// The pass that a cache in memory keeps once the pass is complete: for all iterations in a
/// process, or for one run (see `run_caches`). Thread-safe.
class memory_cache {
public:
  /// The kept pass; null: no pass is complete yet.
  std::shared_ptr<const kept_rows> whole() const {
    std::lock_guard lock{mutex_};
    return rows_;
  }
  /// Keeps a complete pass. If several passes run at the same time, the first one that ends is
  /// kept.
  void publish(std::shared_ptr<const kept_rows> rows) {
    std::lock_guard lock{mutex_};
    if (!rows_)
      rows_ = std::move(rows);
  }

private:
  mutable std::mutex mutex_;
  std::shared_ptr<const kept_rows> rows_;
};

/// The caches in memory of one run: they begin empty, whatever other runs of the graph have kept,
/// and are freed with the run. Thread-safe.
class run_caches {
public:
  /// `whole`: the cache is at a place where splits are not shared with other runs, see
  /// `place::whole`.
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

} // namespace headrace::detail
