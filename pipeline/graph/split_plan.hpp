#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// One source of a graph, as the job that leases its splits sees it.
struct source_splits {
  dataset_op op = dataset_op::range;
  /// Splits in one pass, where the graph tells. A split is one index (range, slices, from_tensors,
  /// counter, random, generator, fixed-length records), one query, a saved block or one file (all
  /// others);
  /// list_files and fixed-length records are known only where they are read.
  std::optional<uint64_t> splits;
  /// How often the source is started over: -1 for ever, nullopt where that depends on data.
  std::optional<int64_t> passes;
  /// Sources of one group advance together (a zip with only one-to-one operators between): split i
  /// of one belongs to split i of the others, so they are leased as aligned ranges.
  uint32_t group = 0;
  bool zipped = false; ///< a zip reads it side by side with others
};

/// The sources outside of function bodies, numbered as the iterators number them: in depth-first
/// order.
struct split_plan {
  std::vector<source_splits> sources;
  uint32_t groups = 0;
  bool infinite = false; ///< the graph never ends
};

split_plan plan_splits(const dataset_ptr& graph);

/// How many sources the graph has outside of function bodies; one that is used twice counts twice.
size_t count_sources(const dataset_node& graph);

} // namespace headrace
